package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"warp/internal/pause"
)

// Release removes the objects of the run, unless the options keep them, and then the
// marker. It may be called whether or not Acquire succeeded, and does nothing the
// second time. After the end of ctx it continues as long as it makes progress. cutOff
// says that uploads were cut off, which may still arrive at the store.
func (l *Lease) Release(ctx context.Context, cutOff bool) error {
	if !l.mustRelease {
		return nil
	}
	l.mustRelease, l.cutOff = false, cutOff
	work, stop := l.untilStalled(ctx)
	defer stop()
	err := l.release(work)
	if err != nil && context.Cause(work) == errStalled {
		err = errStalled
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("clean up: %w; %s, %s from now or later", err, l.leftovers(), l.opts.Length)
}

// leftovers says what a clean-up that failed has left, and what removes it.
func (l *Lease) leftovers() string {
	m := &l.own.marker
	switch {
	case !l.acquired:
		return fmt.Sprintf("nothing was uploaded, but the marker %s may remain; the next warp on bucket %s removes it", m.key(), l.bucket)
	case l.emptied:
		return fmt.Sprintf("the objects are removed, but unfinished uploads and the marker %s may remain; the next warp on bucket %s removes them", m.key(), l.bucket)
	}
	return fmt.Sprintf("objects remain%s; the next warp on bucket %s removes them", under(l.opts.Prefix), l.bucket)
}

// under returns the place of the objects of a run for messages. Without a prefix they
// may be anywhere in the bucket.
func under(prefix string) string {
	if prefix == "" {
		return ""
	}
	return " under " + prefix
}

// Kept reports whether Release has left the objects of the run because of the options.
func (l *Lease) Kept() bool { return l.kept }

func (l *Lease) release(ctx context.Context) error {
	own := l.own
	defer own.close()
	switch {
	case own.unwritten():
		_ = l.removeMarker(ctx, &own.marker) // it probably does not exist
		if own.mayComeBack() && pause.For(ctx, lateWriteGrace) {
			_ = l.removeMarker(ctx, &own.marker)
		}
		return nil
	case own.term.over(time.Now()):
		own.close()
		return l.releaseLapsed(ctx)
	case own.marker.kept():
		l.kept = true
		err := l.suspendVersioning(ctx, &own.marker)
		own.stopRenewing(ctx)
		// Without this the run counts as alive until its lease expires, and no longer.
		_ = own.change(ctx, func(m *marker) { m.Ended = true })
		return err
	}
	return l.removeOwn(ctx)
}

// removeOwn removes the run's objects and its marker. The lease is renewed
// meanwhile, or a later run might take the names and have its objects removed.
func (l *Lease) removeOwn(ctx context.Context) error {
	own := l.own
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	own.term.onLapse(func(err error) { cancel(err) }) // the names may be another run's from then on
	err := retry(ctx, func() error {
		others, _, err := l.otherMarkers(ctx, &own.marker, time.Time{})
		if err != nil {
			return err
		}
		return l.removeObjects(ctx, &own.marker, others, time.Time{})
	})
	if err != nil {
		return err
	}
	own.stopRenewing(ctx) // or the marker would come back
	if err := l.withdraw(ctx, own); err != nil {
		return err
	}
	return l.suspendVersioning(ctx, &own.marker)
}

// withdraw removes a marker that is not renewed any more. It waits for late writes.
func (l *Lease) withdraw(ctx context.Context, own *ownMarker) error {
	remove := func() error { return l.removeMarker(ctx, &own.marker) }
	err := retry(ctx, remove)
	if err == nil && own.mayComeBack() && pause.For(ctx, lateWriteGrace) {
		err = retry(ctx, remove)
	}
	return err
}

// releaseLapsed cleans up after this run, whose lease has expired, like the next run
// would: it writes a marker without names, which shows the store's time, and removes
// only objects that belong to no other run.
func (l *Lease) releaseLapsed(ctx context.Context) (err error) {
	own := &l.own.marker
	if own.kept() {
		l.kept = true
		return nil
	}
	clock := l.newOwnMarker()
	clock.marker.Run += "-after"
	defer func() {
		if removed := l.withdraw(ctx, clock); err == nil {
			err = removed
		}
	}()
	written, err := clock.write(ctx)
	if err != nil {
		return err
	}
	others, now, err := l.otherMarkers(ctx, &clock.marker, written)
	if err != nil {
		return err
	}
	for _, m := range others {
		switch {
		case m.Run != own.Run:
		case !m.expired():
			return errors.New("by the store's clock, its lease has not expired yet")
		default:
			return l.removeRun(ctx, &m.marker, others, now)
		}
	}
	if !own.Claimed {
		return nil
	}
	return fmt.Errorf("another warp considered this run dead and removed its marker, so objects written since then remain%s", under(own.Prefix))
}

// CleanUpOrphans removes the leftovers of the given runs, which other machines started
// as parts of this run. It waits until their leases have expired, and ignores runs that
// clean up meanwhile. It needs no lease, and is called after Release.
func (l *Lease) CleanUpOrphans(ctx context.Context, runs []string) (err error) {
	clock := l.newOwnMarker() // shows the store's time, and claims no names
	defer func() {
		work, stop := l.untilStalled(ctx)
		defer stop()
		if removed := l.withdraw(work, clock); err == nil && removed != nil {
			err = fmt.Errorf("remove leftovers of lost clients: %w", removed)
		}
	}()
	for {
		alive, err := l.removeOrphans(ctx, clock, runs)
		switch {
		case err != nil:
			return err
		case alive == 0:
			return nil
		case !pause.For(ctx, time.Second):
			return context.Cause(ctx)
		}
	}
}

// removeOrphans removes the leftovers of the given runs that are dead. It returns the
// number of runs that are alive.
func (l *Lease) removeOrphans(ctx context.Context, clock *ownMarker, runs []string) (alive int, err error) {
	written, err := clock.write(ctx)
	if err != nil {
		return 0, fmt.Errorf("remove leftovers of lost clients: %w", err)
	}
	others, now, err := l.otherMarkers(ctx, &clock.marker, written)
	if err != nil {
		return 0, fmt.Errorf("remove leftovers of lost clients: %w", err)
	}
	for _, m := range others {
		switch {
		case !slices.Contains(runs, m.Run) || m.kept():
		case !m.expired():
			alive++
		default:
			if err := l.removeRun(ctx, &m.marker, others, now); err != nil {
				return 0, fmt.Errorf("remove leftovers of lost client %s: %w", m.Run, err)
			}
		}
	}
	return alive, nil
}

// errStalled ends an interrupted clean-up that makes no progress.
var errStalled = errors.New("gave up, because nothing could be removed for 6s after the interruption")

// stallLimit is how long an interrupted clean-up continues while nothing is removed.
const stallLimit = 6 * time.Second

// untilStalled returns a context for a clean-up. After the end of ctx, which is an
// interruption, it lasts only as long as objects are being removed: a store that hangs,
// or lists forever, must not keep a person waiting.
func (l *Lease) untilStalled(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-ctx.Done():
		case <-work.Done():
			return
		}
		l.interrupted.Store(true)
		for {
			before := l.removed.Load()
			if !pause.For(work, stallLimit) {
				return
			}
			if l.removed.Load() == before {
				cancel(errStalled)
				return
			}
		}
	}()
	return work, func() { cancel(nil) }
}
