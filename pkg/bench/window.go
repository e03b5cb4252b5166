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
	// Warm says that this client is warm, or that it has waited as long as it
	// may for its workers; cold is how many of these had no row by then.
	Warm(cold int)
	// Ended says that nothing is left to do for a worker of this client.
	Ended()
}

// Bounds of the time that a run waits for the first row of each worker.
const (
	minWarmUpBound = 2 * time.Second
	maxWarmUpBound = 10 * time.Second
)

// warmUpBound is how long a run of that duration (0 = without end) waits for
// its workers to become warm, so that one that is stuck cannot delay it.
func warmUpBound(duration time.Duration) time.Duration {
	if duration == 0 {
		return maxWarmUpBound
	}
	return min(max(minWarmUpBound, duration/20), maxWarmUpBound, duration/2)
}

// MaxWarmUp is the time from the start after which the window begins although
// workers have no row yet.
func (o *Options) MaxWarmUp() time.Duration { return max(o.Warmup, warmUpBound(o.Duration)) }

// A warmUp says when a run is warm.
type warmUp struct {
	workers  int
	openLoop bool          // any row of any worker counts: arrivals may be rarer than workers
	min      time.Duration // from the start, see Options.Warmup
	max      time.Duration // from the start, unless min is longer
}

// A window decides on the window of a run, and says in which order with the
// rows its instants become known. All times are unix ns of the run's clock.
type window struct {
	now         func() int64
	coordinator WindowCoordinator // nil = this process decides
	wake        chan struct{}     // the collector has something to look at

	mu        sync.Mutex
	warmUp    warmUp
	decided   oplog.Window // an instant may be ahead
	announced oplog.Window // what the sinks know
	seen      int64        // rows that ended up to then may be with the sinks

	endGiven  bool  // by the coordinator
	holdUntil int64 // until when the collector holds rows back for the coordinator's answer
}

func newWindow(now func() int64, c WindowCoordinator) *window {
	return &window{now: now, coordinator: c, wake: make(chan struct{}, 1)}
}

// start decides that the measured part starts at that time, or as soon as
// possible after it. All rows of the preparation must be with the sinks.
func (w *window) start(at int64, warm warmUp) {
	w.mu.Lock()
	w.decided.Start, w.warmUp = max(at, w.seen), warm
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next says what the sinks have to know before they are given another row. It
// is called until it returns false. What the sinks get then has ended by now,
// which is why no instant before now may be decided on later.
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

// warm decides on the begin, once the run is warm or must wait no longer for
// that. With a coordinator it only says so. What is on the queues is known only
// when they are all swept.
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

// coldWorkers is how many workers are not warm: those without a row, or in an open
// loop, where arrivals may be rarer than workers, as many as rows are missing.
func (w *window) coldWorkers(rows int64, cold int) int {
	if w.warmUp.openLoop {
		return int(max(int64(w.warmUp.workers)-rows, 0))
	}
	return cold
}

const never = 1<<63 - 1

// beginTimeout is how long rows wait for the coordinator's decision on the
// begin, so that it does not come too late for them. It is as long as a
// coordinator waits for a client that its network has cut off.
const beginTimeout = 15 * time.Second

// mustHold reports whether rows have to wait for the coordinator. They do not
// where that would fill the queues: a run that loses rows is lost as well.
func (w *window) mustHold(chunks int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holdUntil != 0 && w.decided.Begin == 0 && !w.endGiven && w.now() < w.holdUntil && chunks < backlogChunks/2
}

// end decides that the window ends at that time, unless it ends before.
func (w *window) end(at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at = max(at, w.seen); w.decided.Start != 0 && (w.decided.End == 0 || at < w.decided.End) {
		w.decided.End = at
	}
}

var errTooLate = errors.New("requests that ended later are recorded already")

// setBegin is the coordinator's decision.
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

// setEnd is the coordinator's decision.
func (w *window) setEnd(at int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.decided
	switch {
	case d.End != 0 && at >= d.End:
		w.endGiven = true
		return nil // it ends before, or this was said before
	case d.Start == 0 || at < d.Start:
		return errors.New("the window cannot end before the run starts")
	case at < w.seen:
		return fmt.Errorf("the end of the window came %s too late: %w", time.Duration(w.seen-at), errTooLate)
	}
	d.End, w.endGiven = at, true
	return nil
}

// known is what the sinks know.
func (w *window) known() oplog.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.announced
}

// undecided is an error where a coordinator has not said everything. It may let
// the window end before it begins, where nothing is left to do.
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

// span is the time that is measured: of a run that ended while it warmed up all
// of it.
func (w *window) span() (from, to int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.decided
	if d.Begin == 0 || d.Begin >= d.End {
		return d.Start, d.End
	}
	return d.Begin, d.End
}
