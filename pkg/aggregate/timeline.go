package aggregate

import (
	"fmt"
	"slices"
	"time"

	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// maxSlices limits the slices of a window, because each keeps the times of its
// requests.
const maxSlices = 10000

// newSlices returns an empty series for each slice length.
func (p *windowStats) newSlices() []stats.Series {
	var all []stats.Series
	for _, length := range p.Cuts {
		if whole := p.newSeries(); whole.Origin != p.From { // not bounded by a window
			all = append(all, stats.NewSlices(whole.Origin, whole.From, whole.To, length))
		} else {
			all = append(all, stats.NewSlices(p.From, p.From, p.To, length))
		}
	}
	return all
}

// empty returns windowStats for the same window, without requests.
func (p *windowStats) empty() *windowStats { return newWindowStats(p.From, p.To, p.Asked, p.Cuts) }

// slice counts a successful request in the slices.
func (p *windowStats) slice(r *oplog.Record, a *stats.Amount, started bool) {
	for i := range p.Slices {
		t := &p.Slices[i]
		if t.Overlaps(a.Start, a.End) {
			t.Add(a)
		}
		if !started {
			continue
		}
		if times := t.Observe(r.Counted()); times != nil {
			times.Requests++
			addTimes(r, &times.Latency, &times.TTFB, &times.Wire)
			if r.Due != 0 {
				times.Response.Add(response(r, a.End))
			}
		}
	}
}

// failSlices counts a failed request in the slices. Its end counts there like
// the end of a successful request.
func (p *windowStats) failSlices(r *oplog.Record, start, end int64, started bool) {
	for i := range p.Slices {
		t := &p.Slices[i]
		if t.Overlaps(start, end) {
			t.Add(&stats.Amount{Start: start, End: end})
		}
		if started {
			t.Fail(r.Counted())
		}
	}
}

// timeline returns one operation over time.
func (v *view) timeline(all *hostSummary, op *results.Operation, o *Options) (*results.Timeline, error) {
	if len(o.Slices) == 0 {
		return nil, nil
	}
	c := &results.Timeline{
		Whole: results.Slice{
			Start: op.WindowStart, Seconds: op.WindowS, Bytes: float64(op.Bytes), Objects: op.Objects, Inside: op.Inside, Errors: op.Errors,
			Times: stats.Times{Requests: op.Inside, Latency: all.Latency, TTFB: all.TTFB, Response: all.Response, Wire: all.Wire},
		},
		Slices: map[time.Duration][]results.Slice{},
	}
	for i, length := range v.counts.Cuts {
		list, err := slicesOf(&v.counts.Slices[i], v.start, v.end, length)
		if err != nil {
			return nil, err
		}
		c.Slices[length] = list
	}
	return c, nil
}

// groupTimeline returns all operations of a group over time. If the group has a
// window, it covers only the window, even for operations with few requests in
// it.
func (g *groupView) groupTimeline(views []*view, gr *results.GroupReport, ops []results.Operation, o *Options) (*results.Timeline, error) {
	if len(o.Slices) == 0 {
		return nil, nil
	}
	c := &results.Timeline{Slices: map[time.Duration][]results.Slice{}}
	w := &c.Whole
	w.Start, w.Seconds = gr.WindowStart, gr.WindowS
	for i := range ops {
		w.Add(&ops[i].Timeline.Whole)
	}
	for i, length := range o.Slices {
		var sum *stats.Series
		for _, v := range views {
			p := v.counts
			if in := v.op.In; g.basis != results.Whole && in != nil {
				p = in
			}
			if sum == nil {
				sum = &p.empty().Slices[i]
			}
			if sum.Origin == p.Slices[i].Origin {
				sum.Merge(&p.Slices[i])
			}
		}
		list, err := slicesOf(sum, g.start, g.end, length)
		if err != nil {
			return nil, err
		}
		c.Slices[length] = list
	}
	return c, nil
}

// slicesOf lists the slices of a series.
func slicesOf(t *stats.Series, start, end int64, asked time.Duration) ([]results.Slice, error) {
	if t.TooMany || asked > 0 && exact.Distance(start, end)/int64(asked) >= maxSlices {
		return nil, fmt.Errorf("every %v cuts the window into more than 10,000 pieces: choose longer ones", asked)
	}
	t.Fit(start, end)
	pieces := t.Between(start, end)
	all := make([]results.Slice, len(pieces))
	for i := range pieces {
		p, s := &pieces[i], &all[i]
		s.Start, s.Seconds = utc(p.From), float64(exact.Distance(p.From, p.To))/1e9
		s.Bytes, s.Objects, s.Errors = float64(p.Bytes), float64(p.Objects)/stats.ObjectUnit, p.Errors
		s.Ended, s.InFlight = p.Ended, p.Full+p.Partial
		if p.Times != nil {
			s.Times, s.Inside = *p.Times, p.Times.Requests
		}
	}
	return all, nil
}

// validSlices reports whether the slices match the options.
func (p *windowStats) validSlices(o *Options) bool {
	fresh := p.newSlices()
	if !slices.Equal(p.Cuts, o.Slices) || len(p.Slices) != len(fresh) {
		return false
	}
	for i := range fresh {
		if !p.Slices[i].Valid(fresh[i]) {
			return false
		}
	}
	return true
}
