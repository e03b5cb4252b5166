package safety

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/teststore"
)

func TestCleanUpThroughAStoreThatFailsAThirdOfRequests(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, s.Can.Versioning)
		before := b.fill()
		var cleaning atomic.Bool
		n := 0
		f := newFront(t, s.Endpoint, func(f *front) {
			f.refuse = func(r *http.Request) int {
				if isDelete(r) {
					cleaning.Store(true)
				}
				if cleaning.Load() {
					if n++; n%3 == 1 {
						return http.StatusServiceUnavailable
					}
				}
				return 0
			}
		})
		for _, args := range [][]string{small("get"), small("put"), small("stat", "--noprefix")} {
			p := b.through(f.endpoint, args...).want(0)
			cleaning.Store(false)
			if strings.Contains(p.stderr(), "clean up") {
				t.Errorf("%s", p)
			}
		}
		if f.refusals() < 3 {
			t.Errorf("only %d requests failed", f.refusals())
		}
		b.same(before)
	})
}

// A store may accept a request to delete many objects and fail for some of them.
func TestStoreThatConfirmsOnlySomeDeletions(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := made(t, s, false)
	before := b.fill()
	var lied atomic.Int32
	f := newFront(t, s.Endpoint, func(f *front) {
		f.change = func(r *http.Response) error {
			if isDelete(r.Request) && lied.Add(1) <= 2 {
				r.Body.Close()
				body := `<?xml version="1.0"?><DeleteResult><Error><Key>x</Key><Code>InternalError</Code><Message>try again</Message></Error></DeleteResult>`
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
				r.Header.Set("Content-Length", strconv.Itoa(len(body)))
			}
			return nil
		}
	})
	b.through(f.endpoint, small("get")...).want(0)
	b.same(before)
}

func TestStoreThatIsGoneAtCleanUp(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		before := b.fill()
		f := newFront(t, s.Endpoint, func(f *front) {
			f.before = func(r *http.Request) {
				if isDelete(r) {
					go f.shut()
					panic(http.ErrAbortHandler)
				}
			}
		})
		p := b.through(f.endpoint, small("get")...)
		p.awaitOutput("Benchmark data written")
		gone := time.Now()
		code := p.wait()
		t.Logf("%s", p.stderr())
		if code != 1 {
			t.Errorf("exit %d: %s", code, p)
		}
		if d := time.Since(gone); d > time.Minute {
			t.Errorf("it took %s to give up", d)
		}
		p.says("clean up: ", "nothing answers", "objects remain under warp-", "the next warp on bucket "+b.name+" removes")
		b.laterRunsCleanUp(before)
	})
}

func TestStoreThatFreezesForGood(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := made(t, s, false)
	before := b.fill()
	var downloads atomic.Int64
	f := newFront(t, s.Endpoint, func(f *front) {
		f.before = func(r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, ".rnd") && downloads.Add(1) == 50 {
				f.freeze(time.Hour)
			}
		}
	})
	p := b.through(f.endpoint, "get", "--objects=20", "--obj.size=1KiB", "--concurrent=5", "--duration=2s", "--lease=10s", "--drain=1s")
	p.awaitOutput("Preparing: uploading: ")
	ready := time.Now()
	p.awaitOutput("Benchmark data written")
	if d := time.Since(ready); d > 25*time.Second { // without --drain it would wait 30 s
		t.Errorf("a run of 2 s and 1 s to drain took %s", d)
	}
	frozen := time.Now()
	code := p.wait()
	t.Logf("%s", p.stderr())
	if d := time.Since(frozen); d > 70*time.Second {
		t.Errorf("clean-up took %s to give up", d)
	}
	if code != 3 {
		t.Errorf("exit %d: %s", code, p)
	}
	p.says("5 of ", " requests failed")
	p.warns("clean up: ", "objects remain under warp-", b.name)
	if !strings.Contains(p.stdout(), "DrainTimeout") {
		t.Errorf("requests without an answer are no errors: %s", p)
	}
	b.laterRunsCleanUp(before)
}

// If the store freezes before the first answer of the run, the report says so.
func TestStoreThatFreezesBeforeTheFirstAnswer(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.Versitygw)
	b := made(t, s, false)
	before := b.fill()
	var once atomic.Bool
	f := newFront(t, s.Endpoint, func(f *front) {
		f.before = func(r *http.Request) {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, ".rnd") && !once.Swap(true) {
				f.freeze(4 * time.Second)
			}
		}
	})
	p := b.through(f.endpoint, "put", "--obj.size=1KiB", "--concurrent=3", "--duration=1s", "--drain=1s", "--lease=30s").want(3)
	p.says("3 of 3 requests failed")
	b.same(before)
}
