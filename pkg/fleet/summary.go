package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/oplog"
	"warp/pkg/oplog/merge"
	"warp/pkg/results"
)

// A clientSummary counts the requests of one client by the clock of the
// coordinator, as a merge of the logs would have them. It is a sink.
type clientSummary struct {
	ahead int64 // of this machine's clock

	mu      sync.Mutex
	summary *aggregate.Summary
	moved   []oplog.Record
}

func (s *clientSummary) Write(batch []oplog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved = append(s.moved[:0], batch...)
	for i := range s.moved {
		s.moved[i].MoveBack(s.ahead)
	}
	return s.summary.Write(s.moved)
}

func (s *clientSummary) Flush() error { return nil }

// SetWindow takes the instants that the run has decided on.
func (s *clientSummary) SetWindow(w oplog.Window) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.MoveBack(s.ahead)
	return s.summary.SetWindow(w)
}

// encode writes what was counted for the coordinator.
func (s *clientSummary) encode() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.summary.Encode()
}

// maxSummary bounds what a client may send of its figures.
const maxSummary = 16 << 20

// ErrNoRequests says that no client has made a request.
var ErrNoRequests = errors.New("no client has made a request")

// Report adds up what the clients that count have counted, once Finish has
// returned.
func (f *Fleet) Report() (*results.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	total := aggregate.NewSummary(f.plan.Job.Analysis)
	var trailers []oplog.Trailer
	var engines []string
	for _, l := range f.links {
		if l.lost != nil || l.summary == nil {
			continue
		}
		if err := total.Merge(l.summary); err != nil {
			return nil, &Error{l.name(), err}
		}
		l.summary = nil // Merge has taken it apart
		if o := l.status.Outcome; o != nil {
			t := o.Trailer
			t.MoveBack(int64(l.first.Ahead))
			trailers = append(trailers, t)
		}
		engines = append(engines, l.status.Engine)
	}
	if len(engines) == 0 {
		return nil, ErrNoRequests
	}
	for _, m := range f.marks {
		if err := total.AddMark(m); err != nil {
			return nil, err
		}
	}
	if len(f.marks) > 0 {
		f.late = append(f.late, "the marks have no figures, since these are made of the log, which there is none of with --stress")
	}
	f.noteLost()
	t := merge.CombineTrailers(append(slices.Clone(trailers), oplog.Trailer{Notes: slices.Concat(f.notes, f.late)}))
	for i := range trailers {
		t.Merged = append(t.Merged, &trailers[i])
	}
	total.Close(t)
	r, err := total.Report()
	if err != nil {
		return nil, fmt.Errorf("put the figures of all clients together: %w", err)
	}
	h := f.plan.Job.Header
	h.Warp, h.Benchmark = f.options.Warp, f.plan.Job.Options.Benchmark
	slices.Sort(engines)
	h.Engine = strings.Join(slices.Compact(engines), " | ")
	r.Describe(h, t)
	return r, nil
}

// handleSummary keeps what the client has counted.
func (d *clientSession) handleSummary(body []byte) error {
	d.fleet.mu.Lock()
	options, known := d.fleet.plan.Job.Analysis, d.summary != nil
	d.fleet.mu.Unlock()
	if known {
		return nil // the connection broke before the client had heard so
	}
	summary, err := aggregate.Decode(body, options)
	d.fleet.update(func() {
		if err != nil {
			d.discount(err)
			return
		}
		d.summary = summary
	})
	return err
}

// handleSoFar keeps the newest figures of a run that goes on.
func (d *clientSession) handleSoFar(body []byte) error {
	d.fleet.mu.Lock()
	defer d.fleet.mu.Unlock()
	if d.job == nil || !d.job.Follow {
		return errors.New("figures arrived that nobody asked for")
	}
	d.soFar = slices.Clone(body)
	return nil
}

// ReportSoFar adds up what the clients that count have counted while the run
// goes on, as Job.Follow asks for. It is nil until figures of all of them have arrived
// that were counted in the same window.
func (f *Fleet) ReportSoFar() *results.Report {
	f.mu.Lock()
	options := f.plan.Job.Analysis
	var bodies [][]byte
	complete := true
	for _, l := range f.links {
		if l.lost == nil {
			bodies, complete = append(bodies, l.soFar), complete && l.soFar != nil
		}
	}
	f.mu.Unlock()
	if !complete || len(bodies) == 0 {
		return nil
	}
	total := aggregate.NewSummary(options)
	for _, b := range bodies {
		s, err := aggregate.Decode(b, options)
		if err != nil || total.Merge(s) != nil {
			return nil
		}
	}
	r, err := total.Report()
	if err != nil {
		return nil // that is said at the end of the run
	}
	return r
}

// watchWindow decides on the window of all clients while they are measured.
func (f *Fleet) watchWindow(done <-chan struct{}) {
	timeout := time.NewTimer(time.Until(f.warmTimeout()))
	defer timeout.Stop()
	for {
		f.mu.Lock()
		f.decideWindow()
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-timeout.C:
		case <-done:
			return
		case <-f.ctx.Done():
			return
		}
	}
}

// warmGrace is how much longer than a client may warm up the coordinator waits
// for the news that it is warm.
const warmGrace = 2 * time.Second

// warmTimeout is when the window begins at the latest. A client that died or was
// cut off must not keep the others from measuring.
func (f *Fleet) warmTimeout() time.Time {
	return f.begun.Add(f.plan.Job.Options.MaxWarmUp() + warmGrace)
}

// decideWindow has the window begin once all clients are warm, or have had the
// time for it, and end once one of them has nothing left to do. The lock is held.
func (f *Fleet) decideWindow() {
	warm, ended := true, false
	for _, l := range f.links {
		if l.lost == nil {
			warm, ended = warm && l.status.Warm, ended || l.status.Ended
		}
	}
	if f.window.End == 0 && ended {
		f.closeWindow(f.earliestEnd())
	}
	if f.window.Begin != 0 || f.window.End != 0 || !warm && time.Now().Before(f.warmTimeout()) {
		return
	}
	at := f.clock.unixNano(f.earliestStart())
	if d := f.plan.Job.Options.Duration; d > 0 && at >= f.window.Start+int64(d) {
		f.closeWindow(f.window.Start + int64(d)) // it ends before it could begin
		return
	}
	f.window.Begin = at
	for _, l := range f.links {
		l.desired.Begin = l.clockAt(at)
		l.wake()
	}
}

// closeWindow ends the window of all clients. The lock is held.
func (f *Fleet) closeWindow(at int64) {
	f.window.End = at
	for _, l := range f.links {
		l.desired.Close = l.clockAt(at)
		l.wake()
	}
}

// endLead is how much longer than a start the end of the window is announced
// before: a client that learns of it too late is lost.
const endLead = 500 * time.Millisecond

// earliestEnd is the first time at which the window can end. The lock is held.
func (f *Fleet) earliestEnd() int64 { return f.clock.unixNano(f.earliestStart().Add(endLead)) }

// clockAt is what the client's clock shows at an instant of the coordinator's.
// It goes by the first comparison of the clocks, as the client's log does.
func (l *link) clockAt(at int64) int64 { return at + int64(l.first.Ahead) }

// A jobWindow is how a run asks the coordinator for its window.
type jobWindow struct{ *job }

var _ bench.WindowCoordinator = jobWindow{}

// Warm says that this client is warm.
func (j jobWindow) Warm(cold int) { j.update(func() { j.status.Warm, j.status.Cold = true, cold }) }

// Ended says that nothing is left to do here.
func (j jobWindow) Ended() { j.update(func() { j.status.Ended = true }) }

// setWindow tells the run what the coordinator has decided. One that learns of
// it too late is of no use to the others.
func (j *job) setWindow(task Task, o, before desiredState) {
	if o.Begin != 0 && before.Begin == 0 {
		if err := task.SetBegin(j.clock.time(o.Begin)); err != nil {
			j.failRun(err)
		}
	}
	if o.Close != 0 && before.Close == 0 {
		// A run that was stopped before it began to measure has no window.
		if err := task.SetEnd(j.clock.time(o.Close)); err != nil && !errors.Is(err, bench.ErrNotMeasuring) {
			j.failRun(err)
		}
	}
}

// failRun ends a run whose figures would not fit the others'.
func (j *job) failRun(err error) {
	j.fail(err)
	j.stop(fmt.Errorf("%w: %w", errStopped, err))
}
