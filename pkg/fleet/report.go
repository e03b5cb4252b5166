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

// maxSummary limits the size of a client's summary.
const maxSummary = 16 << 20

// ErrNoRequests reports that no client has made a request.
var ErrNoRequests = errors.New("no client has made a request")

// Report merges the summaries of the counted clients after Finish has returned.
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
		l.summary = nil // Merge has consumed it
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
		f.late = append(f.late, "the marks have no figures, because they need the log, and --stress writes none")
	}
	f.noteLost()
	t := merge.CombineTrailers(append(slices.Clone(trailers), oplog.Trailer{Notes: slices.Concat(f.notes, f.late)}))
	for i := range trailers {
		t.Merged = append(t.Merged, &trailers[i])
	}
	total.Close(t)
	r, err := total.Report()
	if err != nil {
		return nil, fmt.Errorf("merge the figures of all clients: %w", err)
	}
	h := f.plan.Job.Header
	h.Warp, h.Benchmark = f.options.Warp, f.plan.Job.Options.Benchmark
	slices.Sort(engines)
	h.Engine = strings.Join(slices.Compact(engines), " | ")
	h.Merged = f.origins()
	r.Describe(h, t)
	return r, nil
}

// origins returns the ids and the addresses of the clients.
func (f *Fleet) origins() (all []oplog.Origin) {
	for _, l := range f.links {
		all = append(all, oplog.Origin{Run: f.options.Run, Client: l.id, Header: oplog.Header{Address: l.name()}})
	}
	return all
}

// handleSummary stores the client's summary.
func (d *clientSession) handleSummary(body []byte) error {
	d.fleet.mu.Lock()
	options, known := d.fleet.plan.Job.Analysis, d.summary != nil
	d.fleet.mu.Unlock()
	if known {
		return nil // the client sends it again if the connection broke before the acknowledgement
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

// handleSoFar stores the latest interim summary.
func (d *clientSession) handleSoFar(body []byte) error {
	d.fleet.mu.Lock()
	defer d.fleet.mu.Unlock()
	if d.job == nil || !d.job.Follow {
		return errors.New("unexpected figures arrived")
	}
	d.soFar = slices.Clone(body)
	return nil
}

// ReportSoFar merges the interim summaries that the counted clients send if
// Job.Follow is set. It returns nil until all of them have sent one for the
// same window.
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
		return nil // the end of the run reports it
	}
	r.NameClients(oplog.Header{Merged: f.origins()})
	return r
}
