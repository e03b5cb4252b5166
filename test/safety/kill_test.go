package safety

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"warp/internal/teststore"
)

// killSeed repeats the random moments of a failed test as closely as possible: WARP_KILL_SEED=….
func killSeed(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("WARP_KILL_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("WARP_KILL_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// needSignals skips the test if the system cannot send signals other than kill.
func needSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: this system has no signals")
	}
}

// killedAt runs warp and kills it when it sends its n-th request, which may or may not reach the store.
func (b *bucket) killedAt(n int, args ...string) {
	b.t.Helper()
	b.killedOn(func(*http.Request) bool { return true }, n, args...)
}

// killedOn is killedAt for the n-th request that counts.
func (b *bucket) killedOn(counts func(*http.Request) bool, n int, args ...string) {
	b.t.Helper()
	var sent atomic.Int64
	var mu sync.Mutex
	var p *process
	f := newFront(b.t, b.store.Endpoint, func(f *front) {
		f.before = func(r *http.Request) {
			if counts(r) && sent.Add(1) == int64(n) {
				mu.Lock()
				defer mu.Unlock()
				p.kill()
			}
		}
	})
	mu.Lock()
	p = b.through(f.endpoint, args...)
	mu.Unlock()
	code := p.wait()
	b.t.Logf("%s: killed at request %d of %d: exit %d", args[0], n, sent.Load(), code)
	f.shut() // so that no request of this run is still in flight
}

// The first requests of a run decide who owns the names, so the run is killed at each of them once.
func TestKilledAtEachOfTheFirstRequestsAndAnyLaterOne(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		r := killSeed(t)
		b := made(t, s, s.Can.Versioning)
		before := b.fill()
		taken := fmt.Sprintf("--seed=%d", takenSeed)
		for n := 1; n <= 12; n++ {
			b.killedAt(n, small("put")...)
			b.killedAt(n, small("put", taken)...)
			b.killedAt(n, small("mixed", taken, "--keep-data", "--prefix=photos")...)
		}
		operations := everyOperation(s, s.Can.Versioning)
		for range 12 {
			b.killedAt(12+r.IntN(250), operations[r.IntN(len(operations))]...)
		}
		b.laterRunsCleanUp(before)
	})
}

// laterRunsCleanUp waits until all leases have expired. Then one run must be enough.
func (b *bucket) laterRunsCleanUp(before map[string]item) {
	b.t.Helper()
	time.Sleep(expiry)
	p := b.warp(small("put")...).want(0)
	// A run before the last one may have begun when a lease had expired already.
	if slices.ContainsFunc(b.runs, func(p *process) bool {
		return strings.Contains(p.String(), "does not prove that it belongs to run ")
	}) {
		before = b.withNewUploads(before)
	}
	b.same(before)
	if b.t.Failed() {
		b.t.Logf("the last run: %s", p)
	}
}

// withNewUploads adds the unfinished uploads that are new. A run that is killed after it has begun an
// upload, and before it has sent the part that proves whose it is, leaves it behind with a warning.
func (b *bucket) withNewUploads(before map[string]item) map[string]item {
	all := maps.Clone(before)
	for k, v := range b.snapshot() {
		if _, old := before[k]; !old && strings.HasPrefix(k, "unfinished upload of ") {
			all[k] = v
		}
	}
	return all
}

func TestSignalsAtRandomMomentsWithTwoWarpsAtOnce(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		r := killSeed(t)
		b := made(t, s, false)
		before := b.fill()
		signals := []os.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}
		operations := everyOperation(s, false)
		for range 8 {
			var pair []*process
			var sent []os.Signal
			for range 2 {
				args := operations[r.IntN(len(operations))]
				if slices.Contains([]string{"get", "stat", "list", "delete", "mixed", "tagging"}, args[0]) {
					args = append(args, "--objects=400")
				}
				pair = append(pair, b.warp(args...))
			}
			for _, p := range pair {
				after := time.Duration(r.Int64N(int64(600 * time.Millisecond)))
				sig := signals[r.IntN(len(signals))]
				sent = append(sent, sig)
				time.Sleep(after)
				p.signal(sig)
				t.Logf("%v to %s %s after it started", sig, p.cmd.Args[1], time.Since(p.start).Round(time.Millisecond))
			}
			for i, p := range pair {
				code := p.wait()
				if sent[i] != syscall.SIGKILL && !slices.Contains([]int{0, 3, 130}, code) && code != -1 {
					t.Errorf("exit %d after %v: %s", code, sent[i], p)
				}
			}
		}
		b.laterRunsCleanUp(before)
	})
}

// After a first Ctrl-C or SIGTERM, nothing is left that a later run would have to remove, whatever
// the run was doing.
func TestInterruptedRunLeavesNothing(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		r := killSeed(t)
		b := made(t, s, s.Can.Versioning)
		before := b.fill()
		for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
			for _, moment := range []string{"", "warp: seed", "Preparing: uploading: "} {
				p := b.warp("get", "--objects=300", "--obj.size=4KiB", "--concurrent=4", "--duration=20s", "--seed="+fmt.Sprint(r.Uint32()))
				if moment == "" {
					time.Sleep(time.Duration(30+r.IntN(60)) * time.Millisecond)
				} else {
					p.awaitOutput(moment)
				}
				p.signal(sig)
				if code := p.wait(); code != 130 && !(moment == "" && code == -1) {
					t.Errorf("exit %d after %v at %q: %s", code, sig, moment, p)
				}
				b.same(before)
			}
		}
	})
}

// The rarer operations prepare, run and clean up in different ways, so each is interrupted at a
// separate moment. warp clean removes what it keeps deliberately.
func TestInterruptedRarerOperationLeavesNothing(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		r := killSeed(t)
		b := made(t, s, s.Can.Versioning)
		before := b.fill()
		for _, args := range rarerOperations(s, s.Can.Versioning) {
			p := b.warp(slices.Concat(args, []string{"--duration=20s"})...)
			p.awaitOutput("warp: seed")
			time.Sleep(time.Duration(r.IntN(700)) * time.Millisecond)
			p.signal(syscall.SIGINT)
			p.want(130)
			b.same(before)
		}
		for i, args := range rarerOperations(s, s.Can.Versioning) {
			seed := fmt.Sprintf("--seed=%d", 700+i)
			p := b.warp(slices.Concat(args, []string{"--keep-data", "--noclear", seed})...)
			if code := p.wait(); code != 0 && code != 3 { // failed requests do not matter here
				t.Errorf("exit %d: %s", code, p)
			}
			if kept := len(b.snapshot()); kept <= len(before) {
				t.Errorf("%q kept nothing", args)
			}
			b.warp("clean", seed).want(0)
			b.same(before)
		}
	})
}

// The parts of an interrupted upload are in no listing of objects.
func TestUnfinishedUploadsOfAKilledRunAreRemoved(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		b.unfinished("photos/unfinished")
		before := b.fill()
		f := newFront(t, s.Endpoint, nil)
		p := b.through(f.endpoint, "put", "--obj.size=40MiB", "--concurrent=2", "--duration=20s", "--lease=10s")
		await(t, 20*time.Second, func() bool {
			return len(f.requests(func(r seen) bool { return strings.Contains(r.query, "partNumber") })) > 2
		}, "parts")
		p.kill()
		p.wait()
		b.laterRunsCleanUp(before)
	})
}

// A run that is killed before its marker names the upload that it has begun leaves it, and a later run says so.
func TestKilledBeforeTheMarkerNamesItsUpload(t *testing.T) {
	t.Parallel()
	b := made(t, stores.Shared(t, teststore.MinIO), false)
	before := b.fill()
	killed := make(chan *process, 1)
	f := newFront(t, b.store.Endpoint, func(f *front) {
		f.change = func(r *http.Response) error {
			if u := r.Request.URL; r.Request.Method == http.MethodPost && u.Query().Has("uploads") && strings.HasSuffix(u.Path, "/named.bin") {
				p := <-killed
				p.kill()
				p.wait()
			}
			return nil
		}
	})
	p := b.through(f.endpoint, "multipart", "--obj.name=named.bin", "--parts=2", "--part.size=5MiB", "--duration=1s", "--lease=10s")
	killed <- p
	p.wait()
	f.shut()
	time.Sleep(expiry)
	last := b.warp(small("put")...).want(0)
	if !strings.Contains(last.stderr(), "does not prove that it belongs to run ") {
		t.Error(last)
	}
	if all := b.withNewUploads(before); len(all) != len(before)+1 {
		t.Errorf("%d uploads are left, want 1", len(all)-len(before))
	} else {
		b.same(all)
	}
}
