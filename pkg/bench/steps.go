package bench

import (
	"errors"
	"time"

	"warp/internal/pause"
)

// steps is the loop of a worker. It performs one step after the other until the time
// is over or nothing is left to do. Then outstanding requests may finish during the
// drain.
func (u *run) steps(w *Worker, op Op) error {
	for !u.stopped() && !u.finished.Load() {
		if u.budget.spent() {
			u.nothingLeft()
			return nil
		}
		if !u.mayStart(w) {
			return nil
		}
		if err := op.Do(u.requests, w); errors.Is(err, errDone) {
			if u.budget == nil { // a budget stops the pacing when no claim can be returned any more
				u.stopPacing() // workers that wait for an arrival can end now
			}
			u.setReason(err)
			u.nothingLeft()
			return err
		}
		u.backOff(w)
	}
	return nil
}

// mayStart waits until w may begin the next step. It returns false if there is none.
func (u *run) mayStart(w *Worker) (ok bool) {
	if u.pacer == nil {
		return u.deadline.IsZero() || time.Now().Before(u.deadline)
	}
	due, ok := u.pacer.Next(u.pacing)
	if ok {
		w.due = due
	}
	return ok
}

// backOff pauses a worker whose host refused the connection. Otherwise the log would
// fill with errors as fast as the machine can make them.
func (u *run) backOff(w *Worker) {
	if w.refused {
		w.refused = false
		pause.For(u.steering, refusedPause)
	}
}

// nothingLeft is called when a worker has nothing left to do. Other workers may still
// use claims that are returned.
func (u *run) nothingLeft() {
	if c := u.coordinator; c == nil {
		u.window.End(u.unixNano(time.Now()))
	} else if !u.endReported.Swap(true) {
		c.Ended()
	}
	u.startDrain()
}

// finish ends the run in good order: no new request starts, and outstanding ones
// may finish. A coordinator that asks for this sets the end of the window itself.
func (u *run) finish(why string) {
	u.setReason(done(why))
	u.finished.Store(true)
	u.stopPacing()
	if u.coordinator == nil {
		u.window.End(u.unixNano(time.Now()))
	}
	u.startDrain()
}

// refusedPause is short, since the next request may go to a host that answers.
const refusedPause = 10 * time.Millisecond
