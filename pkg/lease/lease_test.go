package lease

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/generator"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// newStore returns a client of an embedded store with one bucket, whose requests a function sees first.
func newStore(t *testing.T, intercept func(backend http.Handler, w http.ResponseWriter, r *http.Request)) *store.Client {
	t.Helper()
	return newStoreWith(t, store.Options{}, intercept)
}

func newStoreWith(t *testing.T, o store.Options, intercept func(backend http.Handler, w http.ResponseWriter, r *http.Request)) *store.Client {
	t.Helper()
	c, err := engines.New(store.Config{Options: o, Hosts: store.Addresses([]string{teststore.Intercept(t, intercept)}), Region: "us-east-1",
		Credentials: store.Keys{AccessKey: "k", SecretKey: "s"}, Concurrency: 10})
	if err == nil {
		err = c.MakeBucket(t.Context(), "bucket", false)
	}
	check.OK(t, err)
	return c
}

func pass(backend http.Handler, w http.ResponseWriter, r *http.Request) { backend.ServeHTTP(w, r) }

// newLease returns a lease of a run that no test outlasts.
func newLease(c *store.Client, run string) *Lease {
	return New(Options{Store: c, Bucket: "bucket", Run: run, Prefix: generator.RunPrefix(1), Seed: 1, Concurrency: 1, Length: time.Hour})
}

// put uploads objects of the names of the run.
func put(t *testing.T, l *Lease, n uint64) {
	t.Helper()
	err := l.store.Use(func(h *store.Host) error {
		for i := range n {
			object := store.Put{Ref: store.Ref{Bucket: "bucket", Key: l.own.marker.names().Key(0, i)}, Body: bytes.NewReader(nil)}
			if _, err := h.Put(t.Context(), object, store.NewTrace(time.Now())); err != nil {
				return err
			}
		}
		return nil
	})
	check.OK(t, err)
}

// isAboutMarker reports whether a request names a marker, in its path or its body.
func isAboutMarker(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return strings.Contains(r.URL.Path, "/"+markerPrefix) || bytes.Contains(body, []byte(markerPrefix))
}

func nothingIsLeft(t *testing.T, c *store.Client) {
	t.Helper()
	err := c.List(t.Context(), store.List{Bucket: "bucket"}, func() {}, func(o store.Object) bool {
		t.Errorf("%s is left", o.Key)
		return true
	})
	check.OK(t, err)
}

// A write of the marker that had no answer, and was repeated, may be stored after the marker has been removed.
func TestMarkerThatArrivesLate(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	gone, arrived := make(chan struct{}), make(chan struct{})
	removed := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(removed)
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		marker := isAboutMarker(r)
		if marker && r.Method == http.MethodPut && writes.Add(1) == 2 {
			late := r.Clone(context.Background())
			go func() {
				<-gone
				backend.ServeHTTP(httptest.NewRecorder(), late)
				close(arrived)
			}()
			panic(http.ErrAbortHandler) // closes the connection
		}
		backend.ServeHTTP(w, r)
		if marker && (r.Method == http.MethodDelete || r.Method == http.MethodPost) {
			removed()
		}
	})
	l := newLease(c, "r")
	check.OK(t, l.Acquire(t.Context()))
	check.OK(t, l.Release(t.Context(), false))
	<-arrived
	nothingIsLeft(t, c)
}

// A run that is interrupted while it writes its first marker waits for the answer, or the marker would be stored when
// nobody looks any more.
func TestInterruptedMarker(t *testing.T) {
	t.Parallel()
	gone, arrived := make(chan struct{}), make(chan struct{})
	removed := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(removed)
	ctx, interrupt := context.WithCancel(t.Context())
	var writes atomic.Int64
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		marker := isAboutMarker(r)
		if marker && r.Method == http.MethodPut && writes.Add(1) == 1 {
			interrupt()
			select {
			case <-gone:
			case <-time.After(300 * time.Millisecond):
			}
			answer := httptest.NewRecorder() // the proxy gives up a request of a client that has gone
			backend.ServeHTTP(answer, r.Clone(context.Background()))
			close(arrived)
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			return
		}
		backend.ServeHTTP(w, r)
		if marker && (r.Method == http.MethodDelete || r.Method == http.MethodPost) {
			removed()
		}
	})
	l := newLease(c, "r")
	if err := l.Acquire(ctx); err == nil {
		t.Fatal("nothing was interrupted")
	}
	check.OK(t, l.Release(t.Context(), false))
	<-arrived
	nothingIsLeft(t, c)
}

// A run that was taken for dead does not remove what another one has kept under its names meanwhile.
func TestLapsedRunLeavesWhatOthersKeep(t *testing.T) {
	t.Parallel()
	c := newStore(t, pass)
	a := newLease(c, "a")
	check.OK(t, a.Acquire(t.Context()))
	put(t, a, 5)
	a.own.close() // it stands still, and its lease ends
	check.OK(t, a.own.change(t.Context(), func(m *marker) { m.LeaseS = 0.001 }))
	a.own.term.end()
	time.Sleep(1100 * time.Millisecond) // stores may tell times to the second
	b := newLease(c, "b")
	b.opts.KeepData, b.own.marker.Keep = true, true
	check.OK(t, b.Acquire(t.Context()))
	put(t, b, 5)
	if err := a.Release(t.Context(), false); err == nil || !strings.Contains(err.Error(), "considered this run dead") {
		t.Errorf("a says %v", err)
	}
	check.OK(t, b.Release(t.Context(), false))
	kept := 0
	err := c.List(t.Context(), store.List{Bucket: "bucket", Prefix: "warp-"}, func() {}, func(store.Object) bool { kept++; return true })
	if err != nil || kept != 5 || !b.Kept() {
		t.Errorf("%d of 5 kept objects are there, %v", kept, err)
	}
}

// What is removed by its own name is counted, also if all other objects stay because they are another run's too.
func TestNamedObjectsAreCounted(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newStore(t, pass)
	l := newLease(c, "r")
	m := &marker{Run: "dead", Prefix: "warp-1/", Seed: 1, Claimed: true, Object: &namedObject{Key: "by/name"}}
	object := store.Put{Ref: store.Ref{Bucket: "bucket", Key: m.Object.Key}, Body: bytes.NewReader(nil), Headers: []store.Header{{Name: "x-amz-meta-" + runMetadata, Value: m.Run}}}
	err := c.Use(func(h *store.Host) error {
		_, err := h.Put(ctx, object, store.NewTrace(time.Now()))
		return err
	})
	check.OK(t, err)
	others := []foundMarker{{marker: marker{Run: "alive", Prefix: m.Prefix, Claimed: true, Keep: true}}}
	would, err := l.wouldRemove(ctx, m, others, map[store.Ref]bool{}, func(string, store.Object) {})
	if err != nil || would != 1 {
		t.Errorf("%d objects would be removed (%v), want 1", would, err)
	}
	if err := l.removeObjects(ctx, m, others, time.Time{}); err != nil || l.objects.Load() != 1 {
		t.Errorf("%d objects were removed (%v), want 1", l.objects.Load(), err)
	}
}

// Whoever removes a bucket's leftovers does so only for runs that are dead or that were named.
func TestClean(t *testing.T) {
	t.Parallel()
	c := newStore(t, pass)
	alive := newLease(c, "alive")
	dead := newLease(c, "dead")
	dead.opts.Prefix, dead.opts.Seed = generator.RunPrefix(2), 2
	dead.own = dead.newOwnMarker()
	for _, l := range []*Lease{alive, dead} {
		check.OK(t, l.Acquire(t.Context()))
		put(t, l, 3)
	}
	dead.own.close()
	check.OK(t, dead.own.change(t.Context(), func(m *marker) { m.LeaseS = 0.001 }))
	time.Sleep(1100 * time.Millisecond) // stores may tell times to the second
	left, err := Clean(t.Context(), Options{Store: c, Bucket: "bucket", Run: "clean", Prefix: generator.RunPrefix(3), Seed: 3, Length: time.Hour}, Selection{})
	check.OK(t, err)
	for _, run := range left {
		want := LeftRun{Run: run.Run, Prefix: run.Prefix, State: RunAlive, Seed: 1, Wait: run.Wait}
		if run.Run == "dead" {
			want = LeftRun{Run: run.Run, Prefix: run.Prefix, State: RunDead, Seed: 2, Chosen: true, Objects: 3}
		}
		if run != want {
			t.Errorf("%+v, want %+v", run, want)
		}
	}
	if len(left) != 2 {
		t.Errorf("found %d runs, want 2", len(left))
	}
	check.OK(t, alive.Release(t.Context(), false))
	nothingIsLeft(t, c)
}

// Objects that are nobody's stop a run, and so do the names of a run that is alive.
func TestAcquireRefuses(t *testing.T) {
	t.Parallel()
	c := newStore(t, pass)
	foreign := newLease(c, "foreign")
	put(t, foreign, 1)
	l := newLease(c, "r")
	if err := l.Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "belongs to no run of warp") {
		t.Errorf("names that a foreign object has: %v", err)
	}
	check.OK(t, l.Release(t.Context(), false))
	found, err := l.findObjects(t.Context(), &foreign.own.marker)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d foreign objects are left of 1, %v", len(found), err)
	}
	check.OK(t, l.ClearBucket(t.Context()))
	first, second := newLease(c, "first"), newLease(c, "second")
	check.OK(t, first.Acquire(t.Context()))
	if err := second.Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "run first is using the same names") {
		t.Errorf("names of a run that is alive: %v", err)
	}
	check.OK(t, errors.Join(second.Release(t.Context(), false), first.Release(t.Context(), false)))
	nothingIsLeft(t, c)
}

// A store that reports versioning but ignores the question for versions, as AIStore does, is cleaned up by its listing of
// objects, and nothing else is touched. It is asked once.
func TestVersionsIgnored(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case query.Has("versioning") && r.Method == http.MethodGet:
			_, _ = io.WriteString(w, "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
			return
		case query.Has("versions"):
			asked.Add(1)
			query.Del("versions")
			r.URL.RawQuery = query.Encode()
		}
		backend.ServeHTTP(w, r)
	})
	foreign := store.Ref{Bucket: "bucket", Key: generator.RunPrefix(2) + "/foreign"}
	if _, err := c.WriteSmall(t.Context(), foreign, []byte("x")); err != nil {
		t.Fatal(err)
	}
	l := newLease(c, "r")
	check.OK(t, l.Acquire(t.Context()))
	put(t, l, 5)
	check.OK(t, l.Release(t.Context(), false))
	if l.objects.Load() != 5 || asked.Load() != 1 {
		t.Errorf("%d objects were removed, and the store was asked for versions %d times", l.objects.Load(), asked.Load())
	}
	if _, err := c.ReadSmall(t.Context(), foreign); err != nil {
		t.Errorf("the foreign object: %v", err)
	}
	check.OK(t, c.Delete(t.Context(), []store.Ref{foreign}))
	nothingIsLeft(t, c)
}
