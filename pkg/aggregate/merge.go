package aggregate

import (
	"fmt"
	"maps"

	"warp/internal/exact"
	"warp/pkg/oplog"
)

// Merge adds the counts of o, which must have the same window. Do not use o
// afterwards.
func (s *Summary) Merge(o *Summary) error {
	a, b := &s.windows.Common, o.windows.Common
	switch {
	case *a == (oplog.Window{}):
		s.windows = o.windows
	case a.Begin == 0 && b.Begin == 0: // neither has a window, so everything is reported whole
		a.End = max(a.End, b.End)
		a.Start = min(a.Start, b.Start)
	case a.Begin != b.Begin || a.End != b.End:
		return fmt.Errorf("cannot merge summaries of different windows: %v and %v", *a, b)
	default:
		a.Cold += b.Cold
		a.Start = min(a.Start, b.Start)
	}
	for run := range o.runs {
		s.runs[run] = true
	}
	for _, theirs := range o.groups {
		mine := s.groupOf(theirs.Kind, theirs.Statement)
		mine.merge(theirs, s)
	}
	for _, g := range s.groups {
		if g.Kind == measured {
			g.window = *a
		}
	}
	return nil
}

func (g *group) merge(o *group, s *Summary) {
	for _, c := range o.Clients {
		g.client(c.Client.Run, c.Client.ID, s).Threads.merge(c.Threads)
	}
	for _, op := range o.Ops {
		g.op(op.ID, &s.options).merge(op, &s.options)
	}
}

func (o *opSummary) merge(p *opSummary, options *Options) {
	if p.Requests > 0 {
		if o.Requests == 0 {
			o.First, o.Last, o.LastStart = p.First, p.Last, p.LastStart
		}
		o.First, o.Last, o.LastStart = min(o.First, p.First), max(o.Last, p.Last), max(o.LastStart, p.LastStart)
	}
	o.Requests += p.Requests
	o.Totals.merge(&p.Totals)
	o.WarmUp.merge(&p.WarmUp)
	o.Late.merge(&p.Late)
	o.InFlight.merge(&p.InFlight)
	o.Inside += p.Inside
	if p.In != nil {
		if o.In == nil {
			o.In = p.In.empty()
		}
		o.In.merge(p.In)
	}
	if o.Inside >= fewRequests {
		o.enough()
		for _, part := range p.Whole.Vals {
			o.Totals.merge(&part.Totals)
		}
		return
	}
	for i, run := range p.Whole.Keys {
		o.part(run, options).merge(p.Whole.Vals[i])
	}
}

func mergePhases(to **phaseHists, from *phaseHists) {
	if from == nil {
		return
	}
	if *to == nil {
		*to = new(phaseHists)
	}
	(*to).merge(from)
}

func (p *windowStats) merge(o *windowStats) {
	p.seen(o.First, o.Last)
	for i := range p.Slices {
		p.Slices[i].Merge(&o.Slices[i])
	}
	for i, host := range o.Hosts.Keys {
		p.host(host).merge(o.Hosts.Vals[i])
	}
	if o.AllHosts != nil {
		p.joinTimes()
		p.AllHosts.Merge(o.AllHosts)
	}
	p.mergeHosts()
	if o.Failed != nil {
		p.failed().Merge(o.Failed)
	}
	p.sections.merge(&o.sections)
	for i, c := range o.Clients.Keys {
		p.client(c).merge(o.Clients.Vals[i])
	}
	for i, c := range o.Classes {
		if c != nil {
			p.class(i).merge(c)
		}
	}
}

func (t *counters) merge(o *counters) {
	t.Requests += o.Requests
	t.Errors += o.Errors
	t.Bytes = exact.AddUint(t.Bytes, o.Bytes)
	t.Objects = exact.AddUint(t.Objects, o.Objects)
	t.Latency.Merge(&o.Latency)
	t.TTFB.Merge(&o.TTFB)
	t.Wire.Merge(&o.Wire)
}

func (h *hostSummary) merge(o *hostSummary) {
	h.counters.merge(&o.counters)
	h.Series.Merge(&o.Series)
	h.Kinds.mergeAll(&o.Kinds)
	h.Response.Merge(&o.Response)
	h.Lag.Merge(&o.Lag)
	h.ClientTime.Merge(&o.ClientTime)
	h.Due += o.Due
	mergePhases(&h.Phases, o.Phases)
}

// mergeObjects keeps the objects that are complete on both sides.
func (t *totals) mergeObjects(o *totals) {
	if o.Sampled && (!t.Sampled || o.HashLimit < t.HashLimit) {
		t.Sampled, t.HashLimit = true, o.HashLimit
		maps.DeleteFunc(t.Objects, func(key string, _ access) bool { return hashOf(key) > t.HashLimit })
	}
	for key, a := range o.Objects {
		t.access(key, a)
	}
}
