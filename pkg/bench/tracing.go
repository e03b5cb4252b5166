package bench

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/store"
)

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
	if !t.on.Load() || w.silent {
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
