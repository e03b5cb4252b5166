package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/oplog/merge"
	"warp/pkg/results"
)

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
