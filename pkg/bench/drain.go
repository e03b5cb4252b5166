package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

const (
	// minDrain is how long a run that has ended waits for outstanding answers. If
	// earlier requests took longer it waits longer.
	minDrain = 30 * time.Second
	// interruptDrain is short, since a person is waiting.
	interruptDrain = 2 * time.Second
)

var (
	// errNoAnswer cuts off requests without an answer at the end of the drain.
	errNoAnswer = errors.New("the drain is over")
	// errCutOff cuts off requests that an interrupt does not wait for.
	errCutOff = errors.New("interrupted")
)

// A drain is the time between the last start of a request and the last answer.
type drain struct {
	measuring atomic.Bool  // outstanding requests are waited for, unlike in the preparation
	began     atomic.Int64 // unix ns, 0 = not yet
	length    atomic.Int64 // ns, once it has begun
	cutAt     atomic.Int64 // unix ns, 0 = not yet
	timedOut  atomic.Int64 // requests that errNoAnswer has cut off

	mu     sync.Mutex
	off    *oplog.CutOff // requests that errCutOff has cut off; nil = none
	timers []*time.Timer
	over   bool
}

// after calls f after t, unless the run is over before.
func (d *drain) after(t time.Duration, f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over {
		d.timers = append(d.timers, time.AfterFunc(t, f))
	}
}

func (d *drain) stopTimers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for _, t := range d.timers {
		t.Stop()
	}
}

// count counts a request that an interrupt has cut off.
func (d *drain) count(waited time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = d.off.Add(&oplog.CutOff{Count: 1, LongestS: waited.Seconds()})
}

// cutOff returns the requests that an interrupt has cut off, or nil.
func (d *drain) cutOff() *oplog.CutOff {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// join adds the drain of a part of the run.
func (d *drain) join(p *drain) {
	off := p.cutOff()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timedOut.Add(p.timedOut.Load())
	d.length.Store(max(d.length.Load(), p.length.Load()))
	d.off = d.off.Add(off)
}

// cutAny reports whether requests were cut off. They may still arrive at the store.
func (d *drain) cutAny() bool { return d.cutOff() != nil || d.timedOut.Load() > 0 }

// unfinishedNote describes n objects that were not complete in time.
func (d *drain) unfinishedNote(n int64) string {
	when := "when the run was stopped"
	if length := time.Duration(d.length.Load()); length > 0 {
		when = fmt.Sprintf("%s after the end of the run", length/2)
	}
	return fmt.Sprintf("%s in parts given up, not complete %s; only the parts count", human.Plural(n, "object"), when)
}

// drainLength returns how long to wait for outstanding requests, given the longest
// request so far.
func (o *Options) drainLength(longest time.Duration) time.Duration {
	if o.Drain > 0 {
		return o.Drain
	}
	return max(minDrain, 2*longest)
}

// measuring begins the part of the run that waits for outstanding requests at its
// end. ended must be called when it is over.
func (u *run) measuring() (ended func()) {
	u.drain.measuring.Store(true)
	if !u.deadline.IsZero() {
		u.drain.after(time.Until(u.deadline), u.startDrain)
	}
	return func() {
		u.drain.measuring.Store(false)
		u.drain.stopTimers()
	}
}

// startDrain limits the time that outstanding requests have to finish.
func (u *run) startDrain() {
	length := u.opts.drainLength(u.records.Longest())
	if !u.drain.length.CompareAndSwap(0, int64(length)) {
		return
	}
	u.drain.began.Store(u.unixNano(time.Now()))
	u.drain.after(length, func() {
		u.finished.Store(true) // claims that are returned now stay unused
		u.cut(errNoAnswer)
	})
}

// interrupt is called when no new request may start. It ends outstanding ones.
func (u *run) interrupt() {
	if !u.drain.measuring.Load() {
		u.cut(errCutOff)
		return
	}
	u.window.End(u.unixNano(time.Now()))
	u.drain.after(interruptDrain, func() { u.cut(errCutOff) })
}

// cut ends all outstanding requests with that cause.
func (u *run) cut(why error) {
	if u.drain.cutAt.CompareAndSwap(0, u.unixNano(time.Now())) {
		u.cutCause(why)
	}
}

// ErrUnfinished is the error of an object of many requests that would take longer than
// the drain. It says nothing about the store.
var ErrUnfinished = errors.New("given up at the end of the run")

// GivingUp reports whether half of the drain is over. Objects that take many requests
// are then abandoned with ErrUnfinished, so that outstanding requests can end in good
// order.
func (w *Worker) GivingUp() bool {
	u := w.run
	began := u.drain.began.Load()
	return u.stopped() || began != 0 && u.unixNano(time.Now())-began > u.drain.length.Load()/2
}

// cutOff handles a request that failed because the run did not wait for it any
// longer. At the end of the drain it is recorded as failed. A request that an
// interrupt cut off says nothing about the store and is not recorded, unless the log
// must know all requests that may have had an effect.
func (w *Worker) cutOff(ctx context.Context, rec *oplog.Record, start time.Time, err error) error {
	waited := time.Since(start)
	switch cut := w.run.drain.cutAt.Load(); {
	case cut != 0 && rec.Start > cut:
		return err // it was never sent
	case errors.Is(context.Cause(ctx), errNoAnswer):
		w.run.drain.timedOut.Add(1)
		err = store.Errorf(store.CodeDrainTimeout, 0, "no answer %s after the end of the run", time.Duration(w.run.drain.length.Load()))
	default:
		w.run.drain.count(waited)
		if rec.Check == nil { // no other request looks for its effect
			return err
		}
	}
	rec.Err, rec.Duration = err.Error(), waited
	if !w.Silent {
		w.enqueue(rec, err)
	}
	return err
}
