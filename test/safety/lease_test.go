package safety

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/teststore"
	"warp/pkg/generator"
)

// Runs that start during a run of several leases see it as alive all the time.
func TestLiveRunIsLeftAlone(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		before := b.fill()
		long := b.warp("get", "--objects=60", "--obj.size=1KiB", "--concurrent=2", "--duration=60s", "--lease=10s", "--seed=77", "--noprefix")
		long.awaitOutput("Preparing: uploading: ")
		mine := generator.RunPrefix(77)
		began := time.Now()
		for time.Since(began) < 5*time.Second {
			b.warp(small("put", "--prefix=photos")...).want(0)
			if n := len(b.keys(func(k string) bool { return strings.HasPrefix(k, mine) })); n != 60 {
				t.Errorf("%d of 60 objects of the live run are there", n)
			}
			for _, args := range [][]string{{"put"}, {"mixed", "--keep-data"}, {"put", "--noclear", "--noprefix"}} {
				b.warp(small(args[0], append(args[1:], "--seed=77")...)...).want(1).says("is using the same names", "--seed")
			}
		}
		if n := len(b.keys(func(k string) bool { return strings.HasPrefix(k, mine) })); n != 60 {
			t.Errorf("%d of 60 objects are there after others were refused", n)
		}
		long.signal(os.Interrupt)
		if code := long.wait(); code != 130 {
			t.Errorf("exit %d: %s", code, long)
		}
		if strings.Contains(long.stdout(), "Errors:") && strings.Contains(long.stdout(), "NoSuchKey") {
			t.Errorf("its objects vanished: %s", long)
		}
		b.same(before)
	})
}

// Two runs that start with one seed at the same time may both be rejected, but never both run.
func TestSameSeedAtTheSameInstant(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		before := b.fill()
		for seed := range 4 {
			var all []*process
			for range 3 {
				all = append(all, b.warp(small("get", fmt.Sprint("--seed=", seed), "--duration=1s")...))
			}
			finished := 0
			for _, p := range all {
				switch p.wait() {
				case 0, 3:
					finished++
					if strings.Contains(p.stdout(), "NoSuchKey") {
						t.Errorf("its objects vanished: %s", p)
					}
				case 1:
					p.says("is using the same names")
				default:
					t.Errorf("%s", p)
				}
			}
			if finished > 1 {
				t.Errorf("%d runs used the same names at once", finished)
			}
		}
		b.same(before)
	})
}

func TestKeptObjectsStay(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, s.Can.Versioning)
		for _, flag := range []string{"--keep-data", "--noclear"} {
			seed := "--seed=5" + strconv.Itoa(len(flag))
			b.warp(small("get", flag, seed, "--prefix=kept")...).want(0)
			kept := b.snapshot()
			if n := len(b.keys(isData)); n%24 != 0 || n == 0 {
				t.Fatalf("%d objects were kept", n)
			}
			time.Sleep(expiry)
			b.warp(small("put")...).want(0)
			b.warp(small("delete", "--prefix=kept")...).want(0)
			b.warp(small("put", seed, "--prefix=kept")...).want(1).says("kept objects under these names", "--seed", "--keep-data")
			b.warp(small("put", seed, "--prefix=kept/")...).want(1).says("kept objects under these names")
			b.same(kept)
			p := b.warp(small("get", "--list-existing", "--objects=0", "--prefix=kept")...).want(0)
			if strings.Contains(p.stdout(), "Errors") {
				t.Errorf("reading what was kept: %s", p)
			}
			b.same(kept)
		}
		all := len(b.keys(isData))
		p := b.warp(small("stat", "--list-existing", "--objects=0")...).want(0)
		if !strings.Contains(p.stderr(), fmt.Sprintf("listing: %d objects", all)) {
			t.Errorf("not %d objects, so markers are among them: %s", all, p)
		}
		// Keeping the same names again is allowed, and they are still there later.
		b.warp(small("get", "--keep-data", "--seed=511", "--prefix=kept")...).want(0)
		again := b.snapshot()
		time.Sleep(expiry)
		b.warp(small("put")...).want(0)
		b.same(again)
	})
}

// --noclear also leaves the remains of dead runs, and never overwrites them.
func TestNoClearLeavesTheLeftoversOfOthers(t *testing.T) {
	t.Parallel()
	b := made(t, stores.Shared(t, teststore.MinIO), false)
	dead := b.warp(small("get", "--seed=31", "--duration=20s")...)
	dead.awaitOutput("Preparing: uploading: ")
	dead.kill()
	dead.wait()
	time.Sleep(expiry)
	left := len(b.keys(isData))
	b.warp(small("get", "--noclear")...).want(0)
	if n := len(b.keys(isData)); n != left+24 {
		t.Errorf("%d objects instead of %d", n, left+24)
	}
	b.warp(small("get", "--noclear", "--seed=31")...).want(1).says("left objects under these names", "--noclear", "--seed")
	b.warp(small("get", "--seed=31")...).want(0) // takes over the names after it has cleaned up
	if n := len(b.keys(isData)); n != 24 {
		t.Errorf("%d objects instead of the 24 that were kept", n)
	}
}

// A well-formed forged marker with an expired lease that names the prefix of foreign objects causes
// nothing but its own removal, because names are checked one by one.
func TestForgedMarkerHasNothingRemoved(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, s.Can.Versioning)
		run := "photos/" + generator.RunPrefix(99)
		b.put(run+"1.jpg", "one")
		b.put(run+"00000000/0.00000000.rnd", "two")
		b.put(ownName("photos/", 98), "by another seed")
		b.put(ownName("", 99), "under another prefix")
		b.put(strings.Replace(ownName("photos/", 99), ".rnd", ".RND", 1), "another end")
		b.put(ownName("photos/", 99)+".bak", "a backup of ours")
		// The remains of a run that was killed before it had checked: the name is ours, the object
		// is not.
		b.put(ownName("unclaimed/", 97), "exactly our name")
		before := b.fill()
		b.put(".warp/Forged99.json", fmt.Sprintf(`{"run":"Forged99","prefix":%q,"seed":"99","lease_s":0.5,"claimed":true}`, run))
		b.put(".warp/Early97x.json", fmt.Sprintf(`{"run":"Early97x","prefix":"unclaimed/%s","seed":"97","lease_s":0.5,"keep":true}`, generator.RunPrefix(97)))
		time.Sleep(expiry)
		b.warp(small("put", "--seed=97", "--prefix=unclaimed")...).want(1).says("belongs to no run of warp")
		b.warp(small("put")...).want(0)
		b.same(before)
	})
}

// A foreign object under .warp/ that cannot be read does not prevent a run.
func TestUnreadableObjectAmongTheMarkers(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := made(t, s, false)
	before := b.fill()
	f := newFront(t, s.Endpoint, func(f *front) {
		f.refuse = func(r *http.Request) int {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/.warp/EveryAll.json") {
				return http.StatusForbidden
			}
			return 0
		}
	})
	b.through(f.endpoint, small("put")...).want(0)
	if f.refusals() == 0 {
		t.Error("it was not looked at")
	}
	b.same(before)
}

// skewed returns a store whose clock, according to its answers, is wrong.
func skewed(t *testing.T, endpoint string, by time.Duration) string {
	inXML := regexp.MustCompile(`<LastModified>([^<]*)</LastModified>`)
	return newFront(t, endpoint, func(f *front) {
		f.change = func(r *http.Response) error {
			if at, err := http.ParseTime(r.Header.Get("Last-Modified")); err == nil {
				r.Header.Set("Last-Modified", at.Add(by).UTC().Format(http.TimeFormat))
			}
			if !strings.Contains(r.Header.Get("Content-Type"), "xml") {
				return nil
			}
			text, err := io.ReadAll(r.Body)
			r.Body.Close()
			text = inXML.ReplaceAllFunc(text, func(m []byte) []byte {
				at, err := time.Parse(time.RFC3339Nano, string(inXML.FindSubmatch(m)[1]))
				if err != nil {
					return m
				}
				return []byte("<LastModified>" + at.Add(by).Format("2006-01-02T15:04:05.000Z") + "</LastModified>")
			})
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			r.Header.Set("Content-Length", strconv.Itoa(len(text)))
			return err
		}
	}).endpoint
}

// A clock that is wrong by hours makes no difference, in the client or in the store: only the
// store's counts.
func TestClocksThatDisagreeByHours(t *testing.T) {
	needSignals(t)
	t.Parallel()
	for _, by := range []time.Duration{-5 * time.Hour, 5 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			s := stores.Shared(t, teststore.MinIO)
			b := made(t, s, false)
			before := b.fill()
			endpoint := skewed(t, s.Endpoint, by)
			live := b.through(endpoint, "get", "--objects=24", "--obj.size=1KiB", "--concurrent=2", "--duration=60s", "--lease=10s")
			live.awaitOutput("Preparing: uploading: ")
			time.Sleep(3500 * time.Millisecond)
			b.through(endpoint, small("put")...).want(0)
			if n := len(b.keys(isData)) - len(keysOf(before)); n != 24 {
				t.Errorf("%d of 24 objects of the live run are there", n)
			}
			live.signal(os.Interrupt)
			live.want(130)
			dead := b.through(endpoint, small("get", "--duration=20s")...)
			dead.awaitOutput("Preparing: uploading: ")
			dead.kill()
			dead.wait()
			time.Sleep(expiry)
			b.through(endpoint, small("put")...).want(0)
			b.same(before)
		})
	}
}

func keysOf(all map[string]item) map[string]bool {
	keys := map[string]bool{}
	for k := range all {
		if key, _, _ := strings.Cut(k, "\x00"); isData(key) {
			keys[key] = true
		}
	}
	return keys
}

// A busy store may store a renewal after the marker has been removed, if it accepted the request
// but did not answer in time.
func TestRenewalThatArrivesAfterTheMarkerIsGone(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := made(t, s, false)
	before := b.fill()
	var writes, late atomic.Int64
	var last atomic.Bool
	gone := make(chan struct{})
	removed := sync.OnceFunc(func() { close(gone) })
	f := newFront(t, s.Endpoint, func(f *front) {
		f.before = func(r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			marker := strings.Contains(r.URL.Path, "/.warp/") || bytes.Contains(body, []byte(".warp/"))
			switch {
			case isDelete(r) && marker:
				last.Store(true)
			case r.Method == http.MethodPut && marker && writes.Add(1) == 4: // the run has begun by then
				*r = *r.WithContext(context.WithoutCancel(r.Context())) // the client has stopped waiting
				<-gone
				late.Add(1)
			}
		}
		f.change = func(r *http.Response) error {
			if isDelete(r.Request) && last.Load() {
				removed()
			}
			return nil
		}
	})
	t.Cleanup(removed)
	b.through(f.endpoint, "put", "--obj.size=1KiB", "--concurrent=2", "--duration=16s", "--lease=12s").want(0)
	if late.Load() != 1 {
		t.Fatalf("of %d writes of the marker none came late", writes.Load())
	}
	b.same(before)
}
