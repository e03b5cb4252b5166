package ops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"warp/pkg/bench"

	"warp/pkg/store"
)

// Retention locks versions of objects in governance mode, which a clean-up can
// bypass.
type Retention struct{ Pool }

// retainFor is longer than the difference of clocks that signatures allow, and short
// enough that the leftovers of a killed run are soon unlocked.
const retainFor = time.Hour

// Prepare makes sure that the store locks, and uploads the versions.
func (r *Retention) Prepare(ctx context.Context, e *bench.Env) error {
	if err := tryLock(ctx, e); err != nil {
		return err
	}
	return r.Pool.Prepare(ctx, e)
}

// tryLock locks one version, which then must resist a deletion, but not one
// that bypasses governance: a run that could not clean up does not begin.
func tryLock(ctx context.Context, e *bench.Env) error {
	var made store.Object
	send := func(w *bench.Worker) (err error) {
		if made, err = w.Upload(ctx, w.NextKey(), 1); err != nil {
			return err
		}
		return retain(ctx, w, &made)
	}
	return bench.Feature("object lock").Try(ctx, e, send, func(*store.Host) error {
		refs := []store.Ref{made.Ref}
		err := e.Client.Delete(ctx, refs)
		var refused *store.Error
		switch {
		case made.VersionID == "":
			return bench.NoEffect(fmt.Sprintf("it gave no version id for %s", made.Key))
		case err == nil:
			return bench.NoEffect("a version under retention could be deleted")
		case !errors.As(err, &refused) || refused.Status == 0 || store.Repeatable(err):
			return err
		}
		if err := e.Client.DeleteLocked(ctx, refs); err != nil {
			return fmt.Errorf("bypass the governance of a retention, which the clean-up needs: %w", err)
		}
		return nil
	})
}

// Do locks one version.
func (r *Retention) Do(ctx context.Context, w *bench.Worker) error {
	obj, err := r.pick(w)
	if err != nil {
		return err
	}
	return retain(ctx, w, obj)
}

// retain measures one PutObjectRetention. If two requests overtake each other, the
// later one shortens the retention, which only a bypass allows.
func retain(ctx context.Context, w *bench.Worker, obj *store.Object) error {
	return w.Measure(ctx, "RETENTION", obj.Key, func(ctx context.Context, r *bench.Request) error {
		until := time.Now().Add(retainFor).UTC().Truncate(time.Second)
		return r.Retain(ctx, obj.Ref, store.Retention{Mode: "GOVERNANCE", Until: until, Bypass: true}, r.Trace)
	})
}
