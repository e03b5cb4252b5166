package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/internal/pause"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/store"
)

// An Env is what operations work with.
type Env struct {
	Client *store.Client
	Bucket string
	Seed   uint64
	// ObjectsSeed is the seed of the objects that are read, and ObjectsPrefix their prefix, if another process keeps them.
	ObjectsSeed   uint64
	ObjectsPrefix string
	Stream        int // of the seed's random numbers; it differs between clients that share the seed
	Concurrency   int
	Names         *generator.Names
	Progress      Progress
	Workers       []*Worker    // only the Env of the first bucket has them
	Buckets       []*Env       // one for each bucket, this one first
	Lease         *lease.Lease // nil if nothing is written
	Number        int          // of this client among Clients, from 0
	Clients       int          // that share the seed; 0 = only this one
	// NamesOf makes the names of another client's objects, for operations that work on common ones.
	NamesOf func(client int) *generator.Names

	// uploadHeaders name the run that uploads, if the name of the object does not.
	uploadHeaders []store.Header
	panicking     func() // see Runner.Panicking
}

// each calls do on all workers at once and returns the first error.
func (e *Env) each(do func(*Worker) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	for _, w := range e.Workers {
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

// Spread runs n tasks on the workers. Worker i mod Concurrency runs task i, so
// which thread uploads what does not depend on timing.
func (e *Env) Spread(ctx context.Context, n int, do func(ctx context.Context, w *Worker, i int) error) error {
	var failed atomic.Bool
	return e.each(func(w *Worker) error {
		for i := w.ID; i < n && !failed.Load(); i += len(e.Workers) {
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

// Retry repeats a request that the preparation needs.
func (w *Worker) Retry(ctx context.Context, what string, do func() error) error {
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

// SetSilent turns the recording of the preparation's requests off or on, for
// operations that measure uploads themselves.
func (e *Env) SetSilent(on bool) {
	for _, w := range e.Workers {
		w.Silent = on
	}
}

// lapsed returns an error if no request may be sent any more at the given time.
func (e *Env) lapsed(now time.Time) error {
	if e.Lease == nil {
		return nil
	}
	return e.Lease.Lapsed(now)
}
