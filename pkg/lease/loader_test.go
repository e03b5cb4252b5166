package lease

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/standin"
	"warp/pkg/generator"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A notebook keeps the warnings of a clean-up.
type notebook struct {
	silent
	mu   sync.Mutex
	text string
}

func (n *notebook) Warn(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text += text + "\n"
}

// countedStores are stores with an empty bucket. AIStore shows when objects were last used, and not when they were written.
func countedStores(t *testing.T, each func(*testing.T, *store.Client)) {
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		each(t, newStore(t, pass))
	})
	t.Run("ais", func(t *testing.T) {
		t.Parallel()
		a := standin.StartAIStore(t, standin.AIStoreOptions{})
		c, err := engines.New(store.Config{Provider: "ais", Hosts: store.Addresses([]string{a.Host()}), Concurrency: 10})
		if err == nil {
			err = c.MakeBucket(t.Context(), "bucket", false)
		}
		check.OK(t, err)
		t.Cleanup(c.Close)
		each(t, c)
	})
}

// newCounted returns a lease of names that are counted under a prefix.
func newCounted(c *store.Client, run string, keep bool) (*Lease, *notebook) {
	n := &notebook{}
	return New(Options{Store: c, Bucket: "bucket", Run: run, Prefix: "p/", Seed: 1, Concurrency: 4, Length: time.Hour, KeepData: keep, Progress: n,
		Layout: generator.Layout{Loader: true, Counts: generator.CountsOfLoader(1, 16)}}), n
}

// upload writes an object with these headers.
func upload(t *testing.T, c *store.Client, key string, headers []store.Header) {
	t.Helper()
	err := c.Use(func(h *store.Host) error {
		put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: key}, Body: bytes.NewReader(nil), Headers: headers}
		_, err := h.Put(t.Context(), put, store.NewTrace(time.Now()))
		return err
	})
	check.OK(t, err)
}

// uploadCounted writes the first n objects of a run.
func uploadCounted(t *testing.T, l *Lease, n uint64) {
	t.Helper()
	for i := range n {
		upload(t, l.store, l.own.marker.names().Key(0, i), l.UploadHeaders())
	}
}

// wantKeys wants exactly these objects in the bucket, beside markers.
func wantKeys(t *testing.T, c *store.Client, want ...string) {
	t.Helper()
	var keys []string
	err := c.List(t.Context(), store.List{Bucket: "bucket"}, func() { keys = nil }, func(o store.Object) bool {
		if !IsMarker(o.Key) {
			keys = append(keys, o.Key)
		}
		return true
	})
	if err != nil || !slices.Equal(keys, want) {
		t.Errorf("left are %q (%v), want %q", keys, err, want)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	check.OK(t, err)
}

// kill ends a run as a kill does, long ago.
func kill(t *testing.T, l *Lease) {
	t.Helper()
	l.own.close()
	ok(t, l.own.change(t.Context(), func(m *marker) { m.LeaseS = 0.001 }))
	time.Sleep(1100 * time.Millisecond) // stores may tell times to the second
}

// Somebody else may give objects the names that a run counts, while it uploads: aisloader itself does.
func TestCountedNames(t *testing.T) {
	t.Parallel()
	countedStores(t, func(t *testing.T, c *store.Client) {
		l, notes := newCounted(c, "r", false)
		ok(t, l.Acquire(t.Context()))
		uploadCounted(t, l, 4)     // p/1, p/11, p/21, p/31
		upload(t, c, "p/11", nil)  // over the run's own
		upload(t, c, "p/51", nil)  // ahead of it
		upload(t, c, "p/zzz", nil) // something else
		upload(t, c, "p/2", nil)   // of another loader
		upload(t, c, "p/sub/1", nil)
		ok(t, l.Release(t.Context(), false))
		wantKeys(t, c, "p/11", "p/2", "p/51", "p/sub/1", "p/zzz")
		if want := "bucket bucket has objects with names of run r whose metadata name no run, so they stay\n"; notes.text != want {
			t.Errorf("the warnings are %q, want %q", notes.text, want)
		}
	})
}

// Whoever cleans up after a run that was killed removes what it wrote, and no more, however much later that is.
func TestCountedNamesOfKilledRun(t *testing.T) {
	t.Parallel()
	countedStores(t, func(t *testing.T, c *store.Client) {
		dead, _ := newCounted(c, "dead", false)
		ok(t, dead.Acquire(t.Context()))
		uploadCounted(t, dead, 3)
		upload(t, c, "p/11", nil)
		kill(t, dead)
		_, err := c.ReadSmall(t.Context(), store.Ref{Bucket: "bucket", Key: "p/1"}) // AIStore notes that it was used
		ok(t, err)
		next := New(Options{Store: c, Bucket: "bucket", Run: "next", Prefix: generator.RunPrefix(3), Seed: 3, Concurrency: 2, Length: time.Hour})
		ok(t, next.Acquire(t.Context()))
		ok(t, next.Release(t.Context(), false))
		wantKeys(t, c, "p/11")
	})
}

// A run may write over what earlier runs of warp kept, and over nothing else. Each object is then the run's that wrote it
// last, and goes with it.
func TestCountedNamesThatWereKept(t *testing.T) {
	t.Parallel()
	countedStores(t, func(t *testing.T, c *store.Client) {
		first, _ := newCounted(c, "first", true)
		ok(t, first.Acquire(t.Context()))
		uploadCounted(t, first, 5)
		ok(t, first.Release(t.Context(), false))

		second, notes := newCounted(c, "second", false)
		ok(t, second.Acquire(t.Context()))
		uploadCounted(t, second, 2)
		ok(t, second.Release(t.Context(), false))
		wantKeys(t, c, "p/21", "p/31", "p/41")
		if notes.text != "" {
			t.Errorf("the warnings are %q", notes.text)
		}

		upload(t, c, "p/31", nil)
		third, _ := newCounted(c, "third", false)
		if err := third.Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "p/31 exists in bucket bucket, no run of warp wrote it") {
			t.Errorf("over somebody's object: %v", err)
		}
		ok(t, third.Release(t.Context(), false))

		var would []string
		clean := func(dry bool) []LeftRun {
			left, err := Clean(t.Context(), Options{Store: c, Bucket: "bucket", Run: "clean", Prefix: generator.RunPrefix(3), Seed: 3, Length: time.Hour},
				Selection{Run: "first", DryRun: dry, Would: func(_ string, o store.Object) { would = append(would, o.Key) }})
			ok(t, err)
			return left
		}
		if clean(true); !slices.Equal(would, []string{"p/21", "p/41"}) {
			t.Errorf("a dry run says %q", would)
		}
		if left := clean(false); len(left) != 1 || left[0].Objects != 2 {
			t.Errorf("removed was %+v", left)
		}
		wantKeys(t, c, "p/31")
	})
}

// Uploads in parts of such names are somebody else's: warp makes none.
func TestCountedNamesAbortNoUploads(t *testing.T) {
	t.Parallel()
	var aborted sync.Map
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && r.URL.Query().Has("uploadId") {
			aborted.Store(r.URL.Path, true)
		}
		backend.ServeHTTP(w, r)
	})
	l, _ := newCounted(c, "r", false)
	ok(t, l.Acquire(t.Context()))
	uploadCounted(t, l, 1)
	ok(t, c.Use(func(h *store.Host) error {
		_, err := h.StartUpload(t.Context(), store.Put{Ref: store.Ref{Bucket: "bucket", Key: "p/11"}}, store.NewTrace(time.Now()))
		return err
	}))
	ok(t, l.Release(t.Context(), false))
	if uploads, err := c.UploadsOf(t.Context(), "bucket", "p/11"); err != nil || len(uploads) != 1 {
		t.Errorf("%d uploads are left, %v", len(uploads), err)
	}
	aborted.Range(func(path, _ any) bool { t.Errorf("%s was aborted", path); return true })
}

// If the metadata cannot be read, nothing is removed.
func TestCountedNamesInDoubt(t *testing.T) {
	t.Parallel()
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/p/") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		backend.ServeHTTP(w, r)
	})
	l, _ := newCounted(c, "r", false)
	ok(t, l.Acquire(t.Context()))
	uploadCounted(t, l, 2)
	if err := l.Release(t.Context(), false); err == nil || !strings.Contains(err.Error(), "find the owner of p/") {
		t.Errorf("the error is %v", err)
	}
	wantKeys(t, c, "p/1", "p/11")
}
