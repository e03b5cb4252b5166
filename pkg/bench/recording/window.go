package recording

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"warp/pkg/oplog"
)

// A Coordinator decides on the window of a run in which this process is only one of
// the clients. Its methods must not block.
type Coordinator interface {
	// Warm is called when this client is warm, or has waited for its workers as
	// long as it may. cold is the number of workers without a row.
	Warm(cold int)
	// Ended is called when a worker of this client has nothing left to do.
	Ended()
}

// A WarmUp says when a run is warm.
type WarmUp struct {
	None     bool // the window begins at the start
	Workers  int
	OpenLoop bool          // the number of rows counts, since arrivals may be rarer than workers
	Min      time.Duration // the window begins no earlier than this after the start
	Max      time.Duration // limits how long it waits for the first row of each worker, unless Min is longer
}

// A Window decides on the window of a run: when it starts, begins and ends. All
// times are unix ns of the run's clock.
type Window struct {
	now         func() int64
	coordinator Coordinator   // nil = this process decides
	wake        chan struct{} // wakes the collector

	mu        sync.Mutex
	warmUp    WarmUp
	decided   oplog.Window // an instant may be in the future
	announced oplog.Window // the instants that the sinks have
	seen      int64        // the sinks may have rows that ended up to then

	endGiven  bool  // by the coordinator
	waitUntil int64 // rows wait until then for the coordinator to set the start; 0 = they do not

	marks          []oplog.Mark
	announcedMarks int  // how many the sinks have
	closed         bool // no more marks are accepted
}

// NewWindow returns a window by the clock now. A nil coordinator lets this process
// decide.
func NewWindow(now func() int64, c Coordinator) *Window {
	return &Window{now: now, coordinator: c, wake: make(chan struct{}, 1)}
}

// Start sets the start of the measured part to the given time, or to the earliest
// possible time after it. The sinks must have all rows of the preparation.
func (w *Window) Start(at int64, warm WarmUp) {
	w.mu.Lock()
	w.decided.Start, w.warmUp = max(at, w.seen), warm
	if warm.None {
		w.decided.Begin, w.warmUp.Min = w.decided.Start, never
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next returns the window to announce before the sinks receive another row. It is
// called until it returns false. The rows that the sinks receive then have ended by
// now, so no instant before now may be decided on later.
func (w *Window) next(rows int64, cold int) (oplog.Window, bool) {
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

// warm sets the start once the run is warm or has waited long enough. If there is a
// coordinator, warm only reports to it. swept says whether all queues were emptied
// before: only then are the missing rows known.
func (w *Window) warm(rows int64, cold int, swept bool) {
	w.mu.Lock()
	now := max(w.now(), w.seen)
	since := time.Duration(now - w.decided.Start)
	cold = w.coldWorkers(rows, cold)
	isWarm := cold == 0
	if since < w.warmUp.Min || !isWarm && (!swept || since < w.warmUp.Max) {
		w.mu.Unlock()
		return
	}
	w.warmUp.Min = never // once
	if w.coordinator != nil {
		w.waitUntil = now + int64(beginTimeout)
		w.mu.Unlock()
		w.coordinator.Warm(cold)
		return
	}
	if w.decided.End == 0 || now < w.decided.End {
		w.decided.Begin, w.seen = now, now
	}
	w.mu.Unlock()
}

// coldWorkers returns the number of workers without a row. In an open loop, where
// arrivals may be rarer than workers, it returns the number of missing rows.
func (w *Window) coldWorkers(rows int64, cold int) int {
	if w.warmUp.None {
		return 0
	}
	if w.warmUp.OpenLoop {
		return int(max(int64(w.warmUp.Workers)-rows, 0))
	}
	return cold
}

const never = 1<<63 - 1

// beginTimeout limits how long rows wait for the coordinator to set the start, so
// that it does not come too late for them. A coordinator waits as long for a client
// whose connection broke.
const beginTimeout = 15 * time.Second

// mustWait reports whether rows have to wait for the coordinator. They do not if
// that would fill the queues, since a run that loses rows is lost as well.
func (w *Window) mustWait(chunks int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waitUntil != 0 && w.decided.Begin == 0 && !w.endGiven && w.now() < w.waitUntil && chunks < maxBacklog/2
}

// End sets the end of the window to the given time, unless it ends earlier.
func (w *Window) End(at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at = max(at, w.seen); w.decided.Start != 0 && (w.decided.End == 0 || at < w.decided.End) {
		w.decided.End = at
	}
}

var errTooLate = errors.New("requests that ended later have already been recorded")

// SetBegin sets the start that the coordinator has chosen.
func (w *Window) SetBegin(at int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.decided
	switch {
	case d.Begin == at:
		return nil
	case d.Begin != 0:
		return errors.New("the start of the window has already been decided")
	case d.Start == 0 || at < d.Start:
		return errors.New("the window cannot begin before the run starts")
	case at < w.seen:
		return fmt.Errorf("the start of the window came %s too late: %w", time.Duration(w.seen-at), errTooLate)
	}
	d.Begin = at
	return nil
}

// SetEnd sets the end that the coordinator has chosen.
func (w *Window) SetEnd(at int64) error {
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

// Announced returns the instants that were announced to the sinks.
func (w *Window) Announced() oplog.Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.announced
}

// Undecided returns an error if the coordinator has not set the window. If nothing is
// left to do, it may set an end without a start.
func (w *Window) Undecided() error {
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

// Begun reports whether the window had begun at a time that is not in the future.
func (w *Window) Begun(at int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.decided.Begin != 0 && at >= w.decided.Begin
}

// Span returns the measured time. If a run ended during its warm-up, this is the
// whole run.
func (w *Window) Span() (from, to int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.decided
	if d.Begin == 0 || d.Begin >= d.End {
		return d.Start, d.End
	}
	return d.Begin, d.End
}
