package bench

import (
	"context"
	"errors"
	"time"
)

// errNothingMoves ends a clean-up for which nobody waits any longer.
var errNothingMoves = errors.New("given up, since nothing could be removed for 6s after the interruption")

// hurryLimit is how long a clean-up goes on after an interruption without that anything is removed.
const hurryLimit = 6 * time.Second

// hurriedBatch is how many objects one request may delete then, so that a slow store is seen to get on.
const hurriedBatch = 100

// hurry returns a context for a clean-up. It outlives an interruption, which is what ctx ends with, but from then on
// only as long as objects are being removed: a store that hangs, or lists for ever, must not keep a person waiting.
func (r *Runner) hurry(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-ctx.Done():
		case <-work.Done():
			return
		}
		r.hurried.Store(true)
		for {
			before := r.removed.Load()
			if !pause(work, hurryLimit) {
				return
			}
			if r.removed.Load() == before {
				cancel(errNothingMoves)
				return
			}
		}
	}()
	return work, func() { cancel(nil) }
}
