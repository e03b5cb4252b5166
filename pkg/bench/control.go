package bench

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/bench/recording"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// Finish ends the measured run early but in good order, and records the reason in
// the log. Before and after the measured run it does nothing.
func (r *Runner) Finish(why string) {
	if run := r.running.Load(); run != nil {
		run.finish(why)
	}
}

// SetBegin sets the start of the window, which may be in the near future. Only a
// [recording.Coordinator] calls it. It fails if requests that ended later are already
// recorded.
func (r *Runner) SetBegin(at time.Time) error {
	return r.setWindow(at, (*recording.Window).SetBegin)
}

// SetEnd sets the end of the window, like SetBegin. An earlier deadline prevails; if
// the start would be later, the window has none.
func (r *Runner) SetEnd(at time.Time) error {
	return r.setWindow(at, (*recording.Window).SetEnd)
}

// ErrNotMeasuring is returned before and after the measured run.
var ErrNotMeasuring = errors.New("no run is being measured")

func (r *Runner) setWindow(at time.Time, set func(*recording.Window, int64) error) error {
	run := r.running.Load()
	if run == nil {
		return ErrNotMeasuring
	}
	return set(run.window, run.unixNano(at))
}

// A marking is a run that can be marked.
type marking struct {
	window atomic.Pointer[recording.Window]
}

// Mark records that somebody has just done something to the store. It fails before
// and after the measured run.
func (m *marking) Mark(text string) (oplog.Mark, error) {
	w := m.window.Load()
	if w == nil {
		return oplog.Mark{}, ErrNotMeasuring
	}
	text, err := oplog.MarkText(text)
	if err != nil {
		return oplog.Mark{}, err
	}
	return w.Mark(oplog.Mark{Text: text})
}

// AddMark adds a mark that the coordinator of the run has set.
func (m *marking) AddMark(mark oplog.Mark) error {
	w := m.window.Load()
	if w == nil {
		return ErrNotMeasuring
	}
	_, err := w.Mark(mark)
	return err
}

// A tracing says whether the phases of requests are recorded. Workers check it before
// each request.
type tracing struct {
	on     atomic.Bool
	sample uint64 // traces one request of that many

	mu    sync.Mutex
	notes []string // one for each switch
}

// newTracing returns a tracing that is on or off as the options say.
func newTracing(o *Options) *tracing {
	t := &tracing{sample: uint64(max(o.TraceSample, 1))}
	t.on.Store(o.TraceHTTP)
	return t
}

// A tracer holds the tracing of a run, which may be switched before the run begins.
type tracer struct{ tracing atomic.Pointer[tracing] }

func (r *tracer) trace(o *Options) *tracing {
	t := newTracing(o)
	if !r.tracing.CompareAndSwap(nil, t) {
		return r.tracing.Load()
	}
	return t
}

// SetTrace turns the recording of phases on or off. It may be called at any time.
// The log has a note of each change.
func (r *Runner) SetTrace(on bool) { r.trace(&r.Options).set(on) }

// SetTrace is like [Runner.SetTrace].
func (s *Script) SetTrace(on bool) { s.trace(&s.Options).set(on) }

func (t *tracing) set(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on.Swap(on) == on {
		return
	}
	t.notes = append(t.notes, fmt.Sprintf("HTTP tracing was switched %s at %s", offOrOn(on), time.Now().UTC().Format("15:04:05.000 MST")))
}

func offOrOn(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (t *tracing) changes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.notes)
}

// traces reports whether the phases of the next request are recorded, and whether
// all of them are. New connections are rare enough to be recorded each time.
func (w *Worker) traces() (traced, all bool) {
	t := w.run.tracing
	if !t.on.Load() || w.Silent {
		return false, false
	}
	return true, w.sample.Uint64()%t.sample == 0
}

// keepPhases returns a copy for the row, or nil if nothing was recorded.
func keepPhases(p *store.Phases) *oplog.Phases {
	if *p == (store.Phases{}) {
		return nil
	}
	kept := oplog.Phases(*p)
	return &kept
}
