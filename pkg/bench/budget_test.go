package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"warp/internal/teststore"
)

// However many workers there are and whatever fails, what is written in the
// end is the limit, and at no time more is on its way.
func TestBudgetIsExact(t *testing.T) {
	t.Parallel()
	for workers := 1; workers <= 64; workers *= 2 {
		for name, limit := range map[string]amount{
			"objects": {objects: 1000}, "bytes": {bytes: 100_000}, "both": {objects: 700, bytes: 100_000}, "one": {objects: 1},
		} {
			run := &run{stopPacing: func() {}}
			run.budget = &budget{objects: limit.objects, bytes: limit.bytes}
			var objects, bytes atomic.Int64
			var wg sync.WaitGroup
			for id := range workers {
				wg.Go(func() {
					w := &Worker{ID: id, run: run}
					r := rand.New(rand.NewPCG(1, uint64(id)))
					for run.budget.reason() == "" || !run.budget.spent() { // asks on when it is refused for the moment
						size := r.Int64N(500)
						_ = w.Spend(1, size, func(int) error {
							if r.IntN(5) == 0 {
								return errors.New("this one fails")
							}
							runtime.Gosched()
							objects.Add(1)
							bytes.Add(size)
							return nil
						})
					}
				})
			}
			wg.Wait()
			n, b := objects.Load(), bytes.Load()
			full := limit.objects > 0 && n == limit.objects || limit.bytes > 0 && b >= limit.bytes
			over := limit.objects > 0 && n > limit.objects || limit.bytes > 0 && b >= limit.bytes+500
			if !full || over || run.budget.reason() == "" {
				t.Errorf("%s with %d workers: %d objects and %d bytes (%s)", name, workers, n, b, run.budget.reason())
			}
		}
	}
}

// A real run stops at its limits, and says so; what prepare uploads is free.
func TestRunEndsWithItsBudget(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 7, 64} {
		for _, rate := range []float64{0, 5000} {
			r := emptyRunner(t, workers)
			r.Options.MaxObjects, r.Options.Rate = 200, rate
			op := &uploads{before: 10}
			r.Op = op
			out := r.Run(context.Background(), nowhere{})
			if out.Fatal != nil || out.Failed > 0 || out.Sent != 210 || out.Trailer.End != "completed" ||
				out.Trailer.Reason != "all 200 objects of --max-objects were written" {
				t.Errorf("%d workers, rate %g: %d sent, %v, %+v", workers, rate, out.Sent, out.Fatal, out.Trailer)
			}
		}
	}
}

// uploads is an operation that also uploads before it is measured.
type uploads struct{ before int }

func (u *uploads) Prepare(ctx context.Context, e *Env) error {
	return e.Spread(ctx, u.before, func(ctx context.Context, w *Worker, _ int) error { return u.Do(ctx, w) })
}

func (u *uploads) Do(ctx context.Context, w *Worker) error {
	_, err := w.Upload(ctx, w.NextKey(), 100)
	return err
}

// emptyRunner is a runner on a silent store, opened as far as a run needs it.
func emptyRunner(t *testing.T, workers int) *Runner {
	w := testWorker(t, teststore.Silent(t))
	r := &Runner{Client: w.Env.Client, Progress: noProgress{}, Options: Options{Concurrency: workers, RunID: "run", ClientID: "client"}}
	r.env = &Env{Client: r.Client, Bucket: "bucket", Names: w.Env.Names, Concurrency: workers, Progress: noProgress{}}
	r.env.Buckets = []*Env{r.env}
	return r
}
