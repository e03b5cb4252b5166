package bench

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"warp/pkg/oplog"
)

// A WindowCoordinator decides on the window of a run that this process is only
// one client of. Its methods must not block.
type WindowCoordinator interface {
	// Warm is called when this client is warm, or has waited for its workers as
	// long as it may; cold is how many of them have no row yet.
	Warm(cold int)
	// Ended is called when a worker of this client has nothing left to do.
	Ended()
}

// Bounds of the time that a run waits for the first row of each worker.
const (
	minWarmUpBound = 2 * time.Second
	maxWarmUpBound = 10 * time.Second
)

// warmUpBound returns how long a run of that duration (0 = without end) waits for
// its workers to become warm. A worker that is stuck cannot delay it further.
func warmUpBound(duration time.Duration) time.Duration {
	if duration == 0 {
		return maxWarmUpBound
	}
	return min(max(minWarmUpBound, duration/20), maxWarmUpBound, duration/2)
}

// MaxWarmUp returns the time from the start after which the window begins even if
// workers have no row yet.
func (o *Options) MaxWarmUp() time.Duration { return max(o.Warmup, warmUpBound(o.Duration)) }

// A warmUp says when a run is warm.
type warmUp struct {
	workers  int
	openLoop bool          // the number of rows counts, since arrivals may be rarer than workers
	min      time.Duration // from the start, see Options.Warmup
	max      time.Duration // from the start, unless min is longer
}

// A window decides on the window of a run, and in which order with the rows its
// instants are announced. All times are unix ns of the run's clock.
type window struct {
	now         func() int64
	coordinator WindowCoordinator // nil = this process decides
	wake        chan struct{}     // wakes the collector

	mu        sync.Mutex
	warmUp    warmUp
	decided   oplog.Window // an instant may be ahead
	announced oplog.Window // what the sinks know
	seen      int64        // rows that ended up to then may be with the sinks

	endGiven  bool  // by the coordinator
	holdUntil int64 // until when the collector holds rows back for the coordinator's answer

	marks  []oplog.Mark
	marked int  // of them the sinks know
	closed bool // no mark is taken any more
}

func newWindow(now func() int64, c WindowCoordinator) *window {
	return &window{now: now, coordinator: c, wake: make(chan struct{}, 1)}
}

// start sets the start of the measured part to that time, or as soon as possible
// after it. The sinks must have all rows of the preparation.
func (w *window) start(at int64, warm warmUp) {
	w.mu.Lock()
	w.decided.Start, w.warmUp = max(at, w.seen), warm
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next returns what has to be announced before the sinks receive another row. It is
// called until it returns false. The rows that the sinks receive then have ended by
// now, so no instant before now may be decided on later.
func (w *window) next(rows int64, cold int) (oplog.Window, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = max(w.seen, w.now())
	d, s := &w.decided, &w.announced
	reached := func(at int64) bool { return at != 0 && at <= w.seen }
	switch {
	case s.End != 0:
		return *s, false
	case s.Start == 0:
		if !reached(d.Start) {
			return *s, false
		}
		s.Start = d.Start
	case s.Begin == 0 && reached(d.Begin) && (d.End == 0 || d.Begin < d.End):
		s.Begin, s.Cold = d.Begin, w.coldWorkers(rows, cold)
	case reached(d.End):
		s.End = d.End
	default:
		return *s, false
	}
	return *s, true
}

// warm sets the begin once the run is warm or has waited long enough. With a
// coordinator it only reports that. Rows in the queues are known only after all
// queues were swept.
func (w *window) warm(rows int64, cold int, swept bool) {
	w.mu.Lock()
	now := max(w.now(), w.seen)
	since := time.Duration(now - w.decided.Start)
	cold = w.coldWorkers(rows, cold)
	isWarm := cold == 0
	if since < w.warmUp.min || !isWarm && (!swept || since < w.warmUp.max) {
		w.mu.Unlock()
		return
	}
	w.warmUp.min = never // once
	if w.coordinator != nil {
		w.holdUntil = now + int64(beginTimeout)
		w.mu.Unlock()
		w.coordinator.Warm(cold)
		return
	}
	if w.decided.End == 0 || now < w.decided.End {
		w.decided.Begin, w.seen = now, now
	}
	w.mu.Unlock()
}

// coldWorkers returns how many workers are not warm: those without a row, or in an
// open loop, where arrivals may be rarer than workers, the number of missing rows.
func (w *window) coldWorkers(rows int64, cold int) int {
	if w.warmUp.openLoop {
		return int(max(int64(w.warmUp.workers)-rows, 0))
	}
	return cold
}

const never = 1<<63 - 1

// beginTimeout is how long rows wait for the coordinator to set the begin, which
// must not come too late for them. A coordinator waits as long for a client that
// its network has cut off.
const beginTimeout = 15 * time.Second

// mustHold reports whether rows have to wait for the coordinator. They do not if
// that would fill the queues, since a run that loses rows is lost as well.
func (w *window) mustHold(chunks int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holdUntil != 0 && w.decided.Begin == 0 && !w.endGiven && w.now() < w.holdUntil && chunks < backlogChunks/2
}

// end sets the end of the window to that time, unless it ends earlier.
func (w *window) end(at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at = max(at, w.seen); w.decided.Start != 0 && (w.decided.End == 0 || at < w.decided.End) {
		w.decided.End = at
	}
}

var errTooLate = errors.New("requests that ended later are recorded already")

// setBegin sets the begin as the coordinator decides.
func (w *window) setBegin(at int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.decided
	switch {
	case d.Begin == at:
		return nil
	case d.Begin != 0:
		return errors.New("the begin of the window is decided already")
	case d.Start == 0 || at < d.Start:
		return errors.New("the window cannot begin before the run starts")
	case at < w.seen:
		return fmt.Errorf("the begin of the window came %s too late: %w", time.Duration(w.seen-at), errTooLate)
	}
	d.Begin = at
	return nil
}

// setEnd sets the end as the coordinator decides.
func (w *window) setEnd(at int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.decided
	switch {
	case d.End != 0 && at >= d.End:
		w.endGiven = true
		return nil // it ends earlier, or was set already
	case d.Start == 0 || at < d.Start:
		return errors.New("the window cannot end before the run starts")
	case at < w.seen:
		return fmt.Errorf("the end of the window came %s too late: %w", time.Duration(w.seen-at), errTooLate)
	}
	d.End, w.endGiven = at, true
	return nil
}

// known returns what was announced.
func (w *window) known() oplog.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.announced
}

// undecided returns an error if the coordinator has not set the window. It may let
// the window end before it begins if nothing is left to do.
func (w *window) undecided() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch now := w.now(); {
	case w.decided.End == 0 || w.decided.End > now:
		return errors.New("the coordinator did not say when the window ends")
	case w.decided.Begin == 0 && !w.endGiven:
		return errors.New("the coordinator did not say when the window begins")
	}
	return nil
}

// span returns the time that is measured. If a run ended during its warm-up that is
// all of it.
func (w *window) span() (from, to int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.decided
	if d.Begin == 0 || d.Begin >= d.End {
		return d.Start, d.End
	}
	return d.Begin, d.End
}
