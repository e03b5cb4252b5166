package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"warp/internal/pause"
	"warp/pkg/bench"
	"warp/pkg/fleet/protocol"
	"warp/pkg/oplog"
)

// startLead is how long in advance all clients must know the start.
const startLead = 500 * time.Millisecond

// Measure starts all clients at the same instant and waits until the last one
// is done. A lost client does not end the run. The end of ctx ends it early.
// began is called at the start.
func (f *Fleet) Measure(ctx context.Context, began func()) error {
	if err := f.compareAgain(ctx, "before the start"); err != nil {
		return err
	}
	if f.plan.Start.IsZero() {
		f.beforeStart(ctx)
	}
	start, err := f.announceStart()
	if err != nil {
		return err
	}
	if !f.plan.Start.IsZero() {
		f.options.Logf("all clients are ready; the measurement starts at %s", f.plan.Start.Format("15:04:05"))
	}
	// Waiting may take long, and a run that begins without a client is not what
	// the user requested.
	if err := f.awaitUntil(ctx, start.Add(-max(startLead, f.options.BeforeStartLead))); err != nil {
		return err
	}
	if !f.plan.Start.IsZero() {
		f.beforeStart(ctx)
	}
	if err := f.awaitUntil(ctx, start.Add(-startLead)); err != nil {
		return err
	}
	f.update(func() { f.measures = true })
	if pause.For(ctx, time.Until(start)) {
		f.takeMarks(true)
		defer f.takeMarks(false)
		began()
	} else {
		f.stop(context.Cause(ctx))
	}
	watch, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { f.stop(context.Cause(ctx)) })()
	stopCounting := f.limitErrors(watch)
	defer stopCounting()
	over := make(chan struct{})
	defer close(over)
	f.work.Go(func() { f.watchWindow(over) })
	timeout := f.options.StepTimeout + f.plan.Job.Options.Duration + max(f.plan.Job.Options.Drain, 30*time.Second)
	if f.plan.Job.Options.Duration == 0 {
		timeout = 1 << 62 // no limit
	}
	return f.await(watch, protocol.Measured.String(), timeout, forCounted, func(l *link) bool {
		if o := l.status.Outcome; o != nil && o.TooMany {
			f.stopLocked(o.Fatal)
		}
		return l.status.Phase >= protocol.Measured || l.status.Outcome != nil
	})
}

// awaitUntil waits for the time, or until a client is lost.
func (f *Fleet) awaitUntil(ctx context.Context, t time.Time) error {
	return f.await(ctx, "waiting for the start", 1<<62, forEvery, func(*link) bool { return !time.Now().Before(t) })
}

// beforeStart calls Options.BeforeStart.
func (f *Fleet) beforeStart(ctx context.Context) {
	if f.options.BeforeStart != nil {
		f.options.BeforeStart(ctx)
	}
}

// announceStart sends every client the start by its own clock.
func (f *Fleet) announceStart() (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	start := f.earliestStart()
	if !f.plan.Start.IsZero() {
		if f.plan.Start.Before(start) {
			return start, fmt.Errorf("the start at %s has passed before all clients were ready: start earlier, or choose a later time", f.plan.Start.Format("15:04:05"))
		}
		start = f.plan.Start
	}
	f.begun = start
	at := f.clock.UnixNano(start)
	if start.Equal(f.plan.Start) {
		at = start.UnixNano() // of the wall clock, without the monotonic reading
		f.begun = f.clock.Time(at)
	}
	f.window = oplog.Window{Start: at}
	for _, l := range f.links {
		l.desired.Goal, l.desired.Start = protocol.Measured, l.clockAt(at)
		l.wake()
	}
	return f.begun, nil
}

// stop ends the run of all clients now, and keeps their results.
func (f *Fleet) stop(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reason := protocol.Interrupted
	if cause != nil && !errors.Is(cause, bench.ErrInterrupted) {
		reason = cause.Error()
		f.fatal = cmp.Or(f.fatal, cause)
	}
	f.stopLocked(reason)
}

func (f *Fleet) stopLocked(reason string) {
	if f.measures && f.window.End == 0 && time.Now().After(f.begun) {
		f.closeWindow(f.earliestEnd())
	}
	for _, l := range f.links {
		if l.desired.Stop == "" {
			l.desired.Stop = reason
			l.wake()
		}
	}
}

// End ends the measured run of all clients gracefully at the same instant.
// Their logs record the reason.
func (f *Fleet) End(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.window.End == 0 {
		f.closeWindow(f.earliestEnd())
	}
	for _, l := range f.links {
		if l.desired.End == 0 {
			l.desired.End, l.desired.EndReason = l.desired.Close, why
			l.wake()
		}
	}
}

// Trace turns the recording of request phases on or off on all clients.
func (f *Fleet) Trace(on bool) {
	state := protocol.TraceOff
	if on {
		state = protocol.TraceOn
	}
	f.setDesired(f.links, func(o *protocol.DesiredState) { o.Trace = state })
}

// limitErrors ends the run when too many requests have failed over all clients.
func (f *Fleet) limitErrors(ctx context.Context) (stop func()) {
	limit := f.plan.Job.Options.MaxErrors
	if !limit.Set {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for pause.For(ctx, time.Second) {
			var sent, failed int64
			for _, op := range f.Snapshot().Ops {
				sent += int64(op.Requests)
				failed += int64(op.Errors)
			}
			if limit.Exceeded(failed, sent) {
				f.stop(fmt.Errorf("%w (%s): %d of %d failed", bench.ErrTooManyErrors, limit, failed, sent))
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}
