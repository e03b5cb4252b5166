package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/internal/pause"
	"warp/pkg/store"
)

// each calls do on all workers at once and returns the first error.
func (e *Env) each(do func(*Worker) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	for _, w := range e.workers {
		wg.Go(func() {
			ended := false
			defer func() {
				if !ended && e.panicking != nil {
					e.panicking()
				}
			}()
			err := do(w)
			ended = true
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
			}
		})
	}
	wg.Wait()
	return first
}

// spread runs n tasks on the workers. Worker i mod Concurrency runs task i, so
// which thread uploads what does not depend on timing.
func (e *Env) spread(ctx context.Context, n int, do func(ctx context.Context, w *Worker, i int) error) error {
	var failed atomic.Bool
	return e.each(func(w *Worker) error {
		for i := w.ID; i < n && !failed.Load(); i += len(e.workers) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(ctx, w, i); err != nil {
				failed.Store(true)
				return err
			}
		}
		return nil
	})
}

// prepareAttempts limits how often the preparation repeats a request. The run
// needs its objects, but a store that keeps failing is not worth waiting for.
const prepareAttempts = 8

// mustUpload uploads an object for the preparation. Failures are recorded like
// any others, and the upload is repeated.
func (w *Worker) mustUpload(ctx context.Context, key string, size int64) (obj store.Object, err error) {
	err = w.must(ctx, "upload "+key, func() error {
		obj, err = w.upload(ctx, key, size)
		return err
	})
	return obj, err
}

// must repeats a request that the preparation needs.
func (w *Worker) must(ctx context.Context, what string, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		if err == nil || ctx.Err() != nil {
			return err
		}
		switch {
		case !store.Repeatable(err):
			return fmt.Errorf("prepare: %s: %w", what, err)
		case attempt == prepareAttempts:
			return fmt.Errorf("prepare: %s, tried %d times: %w", what, attempt, err)
		}
		wait := min(10*backoff(attempt), 2*time.Second)
		if store.IsConnection(err) {
			wait = backoff(attempt) // the host is dead, and the next attempt likely goes to another
		}
		if !pause.For(ctx, wait) {
			return ctx.Err()
		}
	}
}

// bucketIndexes returns the index of each bucket.
func (e *Env) bucketIndexes() map[string]int {
	at := make(map[string]int, len(e.buckets))
	for i, p := range e.buckets {
		at[p.Bucket] = i
	}
	return at
}

// setSilent turns the recording of the preparation's requests off or on, for
// operations that measure uploads themselves.
func (e *Env) setSilent(on bool) {
	for _, w := range e.workers {
		w.silent = on
	}
}
