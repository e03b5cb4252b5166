package fleet

import (
	"context"
	"errors"
	"slices"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/protocol"
)

// Clean makes all clients remove their objects, and releases them. One of the
// remaining clients also cleans up after the others, once their leases allow
// it.
func (f *Fleet) Clean(ctx context.Context) error {
	err := f.awaitClean(ctx)
	if err == nil {
		err = f.cleanUpOrphans(ctx)
	}
	return bench.JoinErrors([]error{err, f.release(ctx), f.cleanUpErrors()})
}

// HandOver ends a run after its preparation, and releases the clients. They leave their objects and markers, which the caller
// has adopted.
func (f *Fleet) HandOver(ctx context.Context) error {
	f.setDesired(f.links, func(o *protocol.DesiredState) { o.HandOver = true })
	return bench.JoinErrors([]error{f.awaitClean(ctx), f.release(ctx), f.cleanUpErrors()})
}

func (f *Fleet) awaitClean(ctx context.Context) error {
	f.setDesired(f.links, func(o *protocol.DesiredState) { o.Goal = max(o.Goal, protocol.Cleaned) })
	return f.await(ctx, protocol.Cleaned.String(), f.options.StepTimeout, forPresent, func(l *link) bool { return l.status.Phase >= protocol.Cleaned })
}

// release frees the clients.
func (f *Fleet) release(ctx context.Context) error {
	f.mu.Lock()
	for _, l := range f.links {
		l.desired.Goal, l.desired.LogReceived = protocol.Released, l.verified
		l.wake()
	}
	f.mu.Unlock()
	return f.await(ctx, protocol.Released.String(), 10*time.Second, forPresent, func(l *link) bool { return l.status.Phase >= protocol.Released })
}

// cleanUpOrphans delegates the clean-up after lost clients to a connected
// client. If that one is lost as well, another one cleans up after both.
func (f *Fleet) cleanUpOrphans(ctx context.Context) error {
	timeout := f.options.StepTimeout + f.plan.Job.Options.Lease
	for {
		cleaner, gone := f.delegate()
		if cleaner == nil {
			return nil
		}
		err := f.await(ctx, "removing what lost clients left", timeout, forPresent, func(l *link) bool {
			return l != cleaner || l.status.OrphansDone >= len(l.desired.Orphans) || l.status.Phase == protocol.Released // the client was stopped
		})
		if err != nil {
			return err
		}
		f.mu.Lock()
		if cleaner.gone == nil && cleaner.status.OrphansDone >= len(cleaner.desired.Orphans) {
			for _, l := range gone {
				l.orphanRemoved = true
			}
		}
		f.mu.Unlock()
	}
}

// delegate assigns the lost clients to a connected client for clean-up. It
// returns nil if nothing is left, or no client is connected.
func (f *Fleet) delegate() (cleaner *link, gone []*link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.plan.Job.Options.NoClear || f.plan.Job.Options.KeepData {
		return nil, nil
	}
	for _, l := range f.links {
		switch {
		case l.gone == nil && l.status.TakesOrphans && l.status.Phase < protocol.Released && cleaner == nil:
			cleaner = l
		case l.gone != nil && l.job != nil && l.status.Phase < protocol.Cleaned && !l.orphanRemoved:
			gone = append(gone, l)
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	if cleaner == nil {
		f.options.Logf("nobody can remove what client %s left: the next run of warp on this bucket does, %v from now or later", gone[0].name(), f.plan.Job.Options.Lease)
		return nil, nil
	}
	for _, l := range gone {
		f.options.Logf("client %s is gone; its objects are removed when its lease has expired, %v after its last message", l.name(), f.plan.Job.Options.Lease)
		cleaner.desired.Orphans = append(slices.Clip(cleaner.desired.Orphans), l.id)
	}
	cleaner.wake()
	return cleaner, gone
}

// cleanUpErrors returns the errors of clients that could not clean up.
func (f *Fleet) cleanUpErrors() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, l := range f.links {
		if l.status.Clean != "" {
			errs = append(errs, &Error{l.name(), errors.New(l.status.Clean)})
		}
	}
	return bench.JoinErrors(errs)
}

// Abort ends a run before it was measured, and cleans up.
func (f *Fleet) Abort(ctx context.Context, cause error) error {
	f.stop(cause)
	f.mu.Lock()
	reserved := slices.ContainsFunc(f.links, func(l *link) bool { return l.admitted })
	for _, l := range f.links {
		if !l.admitted {
			l.giveUpLocked(&refusedError{text: "it never was part of the run"})
		}
		if l.job == nil {
			l.desired.Goal = protocol.Released
		}
	}
	f.mu.Unlock()
	if !reserved {
		return nil
	}
	_ = f.EndRows()
	f.setDesired(f.links, func(o *protocol.DesiredState) { o.Goal = max(o.Goal, protocol.Stored) })
	err := f.Clean(ctx)
	f.DropLogs()
	return err
}

// DropLogs removes the received logs without merging them.
func (f *Fleet) DropLogs() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.spool != nil {
			_ = l.spool.Remove() // it has no rows of a run
			l.spool = nil
		}
	}
}
