package ops

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/pkg/replay"
)

// Many workers take the requests of few objects in turn, and each holds up some of them. No request overtakes an earlier one of its
// object, unless both only read.
func TestTurns(t *testing.T) {
	t.Parallel()
	const objects, total, workers = 5, 3000, 16
	rng := rand.New(rand.NewPCG(4, 2))
	var all, writes [objects]uint32
	requests := make([]replay.Request, total)
	for i := range requests {
		r := &requests[i]
		r.Object, r.Kind = rng.Uint32N(objects), replay.Get
		r.After = writes[r.Object]
		if rng.IntN(4) == 0 {
			r.Kind, r.After = replay.Put, all[r.Object]
			writes[r.Object]++
		}
		all[r.Object]++
	}
	turns := newTurns(objects)
	var next atomic.Int64
	var readers, writers [objects]atomic.Int32
	var content [objects]atomic.Uint32 // number of writes so far
	var together atomic.Int32          // max number of readers of an object at a time
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < total; i = next.Add(1) - 1 {
				r := &requests[i]
				if !turns.wait(t.Context(), r) {
					t.Error("the wait has ended")
					return
				}
				if r.Kind.Writes() {
					if writers[r.Object].Add(1) > 1 || readers[r.Object].Load() > 0 {
						t.Errorf("request %d writes its object while others use it", i)
					}
					content[r.Object].Add(1)
				} else {
					if n := readers[r.Object].Add(1); n > together.Load() {
						together.Store(n)
					}
					if got := content[r.Object].Load(); writers[r.Object].Load() > 0 || got != r.After {
						t.Errorf("request %d reads its object after %d writes, want %d", i, got, r.After)
					}
				}
				if i%97 == 0 {
					time.Sleep(2 * time.Millisecond)
				}
				if r.Kind.Writes() {
					writers[r.Object].Add(-1)
				} else {
					readers[r.Object].Add(-1)
				}
				turns.end(r)
			}
		})
	}
	wg.Wait()
	if together.Load() < 2 {
		t.Error("requests that only read did not run at the same time")
	}
	for i := range turns.shards {
		if n := len(turns.shards[i].waiting); n > 0 {
			t.Errorf("%d objects have requests that still wait", n)
		}
	}
}

// The end of the run ends the wait.
func TestTurnsEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if newTurns(1).wait(ctx, &replay.Request{Kind: replay.Delete, After: 1}) {
		t.Error("a deletion did not wait for the request before it")
	}
}
