package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/pkg/generator"
	"warp/pkg/s3mem"
	"warp/pkg/store"
)

// embeddedStore is the address of a store of the test's own.
func embeddedStore(t *testing.T) string {
	t.Helper()
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.Addr()
}

func clientOf(t *testing.T, addr string) *store.Client {
	t.Helper()
	c, err := store.New(store.Config{Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Credentials: credentials.NewStaticV4("k", "s", ""), Concurrency: 10})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// frontedClient talks to a store through a front, which gets the store to hand requests on to.
func frontedClient(t *testing.T, front func(backend http.Handler, w http.ResponseWriter, r *http.Request)) *store.Client {
	t.Helper()
	addr := embeddedStore(t)
	backend := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = addr
		front(backend, w, r)
	}))
	t.Cleanup(server.Close)
	return clientOf(t, server.Listener.Addr().String())
}

// isAboutMarker says whether a request names a marker, in its path or its body.
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
	if err != nil {
		t.Fatal(err)
	}
}

// A write of the marker that had no answer, and was repeated, may be stored after the marker has been removed.
func TestMarkerThatArrivesLate(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	gone, arrived := make(chan struct{}), make(chan struct{})
	removed := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(removed)
	c := frontedClient(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
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
	r := &Runner{Client: c, Options: Options{Bucket: "bucket", RunID: "r", ClientID: "c", Seed: 1, Concurrency: 1, Lease: time.Hour}}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
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
	c := frontedClient(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
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
	r := &Runner{Client: c, Options: Options{Bucket: "bucket", RunID: "r", ClientID: "c", Seed: 1, Concurrency: 1, Lease: time.Hour}}
	if err := r.Open(ctx); err == nil {
		t.Fatal("nothing was interrupted")
	}
	if err := r.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-arrived
	nothingIsLeft(t, c)
}

// What is removed by its own name is counted, also where all other objects stay because they are another run's too.
func TestFixedObjectsAreCounted(t *testing.T) {
	t.Parallel()
	ctx, c, counter := t.Context(), clientOf(t, embeddedStore(t)), &countingProgress{Progress: Silent{}}
	r := &Runner{Client: c, Progress: counter, Options: Options{Bucket: "bucket", Concurrency: 1}}
	if _, err := r.openBucket(ctx); err != nil {
		t.Fatal(err)
	}
	m := &marker{Run: "dead", Prefix: "warp-1/", Seed: 1, Claimed: true, Fixed: &fixedObject{Key: "by/name"}}
	put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: m.Fixed.Key}, Body: bytes.NewReader(nil), Headers: []store.Header{{Name: "x-amz-meta-" + runMetadata, Value: m.Run}}}
	host := c.Acquire()
	defer c.Release(host, nil)
	if _, err := host.Put(ctx, put, store.NewTrace(time.Now())); err != nil {
		t.Fatal(err)
	}
	others := []foundMarker{{marker: marker{Run: "alive", Prefix: m.Prefix, Claimed: true, Keep: true}}}
	would, err := r.wouldRemove(ctx, m, others, map[store.Ref]bool{}, func(string, store.Object) {})
	if err != nil || would != 1 {
		t.Errorf("%d objects would be removed (%v), want 1", would, err)
	}
	if err := r.removeObjects(ctx, m, others, time.Time{}); err != nil || counter.n.Load() != 1 {
		t.Errorf("%d objects were removed (%v), want 1", counter.n.Load(), err)
	}
}

// Once a term is over it stays over, whichever clock says so and however good the next renewal is.
func TestTermIsOverForGood(t *testing.T) {
	t.Parallel()
	began := time.Now()
	later := func(d time.Duration) time.Time { return began.Add(d) }
	asleep := func(d time.Duration) time.Time { // what time.Now says where the monotonic clock stood still
		return began.Round(0).Add(d)
	}
	tests := map[string]struct {
		now  time.Time
		over bool
	}{
		"in time":              {later(58 * time.Second), false},
		"too late":             {later(60 * time.Second), true},
		"after a nap":          {asleep(58 * time.Second), false},
		"after a night asleep": {asleep(8 * time.Hour), true},
	}
	for name, test := range tests {
		term := newTerm(time.Minute)
		if term.over(later(time.Hour)) {
			t.Errorf("%s: it is over before it has begun", name)
		}
		term = newTerm(time.Minute)
		if err := term.renew(began, began); err != nil {
			t.Fatal(err)
		}
		if term.over(test.now) != test.over {
			t.Errorf("%s: over is %t", name, !test.over)
		}
		if err := term.renew(test.now, test.now); (err != nil) != test.over || term.over(began) != test.over {
			t.Errorf("%s: renewed: %v", name, err)
		}
	}
	var told error
	term := newTerm(time.Minute)
	_ = term.renew(began, began)
	term.watch(func(err error) { told = err })
	if err := term.renew(later(50*time.Second), later(70*time.Second)); err == nil || told == nil {
		t.Errorf("an answer that came too late renews: %v, told %v", err, told)
	}
}

func hundredBytes(t *testing.T) generator.Sizes {
	t.Helper()
	sizes, err := generator.ParseSizes("100", false)
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// A run whose lease the store does not let it renew stops writing when that is over, is an error, and removes what it
// wrote as the next run would.
func TestRunEndsWithItsLease(t *testing.T) {
	t.Parallel()
	var refuse atomic.Bool
	var late atomic.Int64
	var end atomic.Pointer[time.Time]
	c := frontedClient(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		marker := isAboutMarker(r)
		if marker && r.Method == http.MethodPut && refuse.Load() && !strings.Contains(r.URL.Path, "-after") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if over := end.Load(); over != nil && !marker && r.Method == http.MethodPut && time.Now().After(*over) {
			late.Add(1)
		}
		backend.ServeHTTP(w, r)
	})
	r := &Runner{Client: c, Op: &Put{Sizes: hundredBytes(t)}, Options: Options{
		Bucket: "bucket", RunID: "r", ClientID: "c", Seed: 1, Concurrency: 2, Lease: time.Second, Duration: time.Minute, Drain: time.Second,
		Payload: generator.PayloadOptions{Seed: 1}, TraceSample: 1}}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	refuse.Store(true)
	over := time.Now().Add(1200 * time.Millisecond) // with time for requests on their way
	end.Store(&over)
	began := time.Now()
	out := r.Run(t.Context())
	var lapsed *LapsedError
	if !errors.As(out.Fatal, &lapsed) || time.Since(began) > 10*time.Second || out.Trailer.End != "aborted" {
		t.Errorf("%v after %v, %+v", out.Fatal, time.Since(began), out.Trailer)
	}
	if n := late.Load(); n > 0 {
		t.Errorf("%d objects were written after the lease", n)
	}
	time.Sleep(time.Second) // the store counts too
	if err := r.Cleanup(t.Context()); err != nil {
		t.Error(err)
	}
	nothingIsLeft(t, c)
}

// A run that was taken for dead does not remove what another one has kept under its names meanwhile.
func TestLapsedRunLeavesWhatOthersKeep(t *testing.T) {
	t.Parallel()
	c := clientOf(t, embeddedStore(t))
	newRunner := func(id string, keep bool) *Runner {
		return &Runner{Client: c, Op: &Put{Sizes: hundredBytes(t)}, Options: Options{
			Bucket: "bucket", RunID: id, ClientID: "c", Seed: 1, Concurrency: 1, Lease: time.Second, MaxObjects: 5, KeepData: keep,
			Payload: generator.PayloadOptions{Seed: 1}, TraceSample: 1}}
	}
	a := newRunner("a", false)
	if err := a.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := a.Run(t.Context()); out.Fatal != nil {
		t.Fatal(out.Fatal)
	}
	a.lease.drop() // it stands still
	time.Sleep(2500 * time.Millisecond)
	b := newRunner("b", true)
	if err := b.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := b.Run(t.Context()); out.Fatal != nil {
		t.Fatal(out.Fatal)
	}
	if err := a.Cleanup(t.Context()); err == nil || !strings.Contains(err.Error(), "took this run for dead") {
		t.Errorf("a says %v", err)
	}
	if err := b.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := 0
	err := c.List(t.Context(), store.List{Bucket: "bucket", Prefix: "warp-"}, func() {}, func(store.Object) bool { kept++; return true })
	if err != nil || kept != 5 {
		t.Errorf("%d of 5 kept objects are there, %v", kept, err)
	}
}
