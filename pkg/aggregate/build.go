package aggregate

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Report computes the figures. It changes nothing; more can be added after.
func (s *Summary) Report(o Options) *Report {
	r := &Report{Version: 1, Warnings: []string{}, Groups: []GroupReport{}, Operations: []Operation{}}
	for i := range s.plan.Groups {
		g := &s.plan.Groups[i]
		var ops []Operation
		for _, op := range s.ops {
			if op.group == g && len(op.hosts.keys) > 0 {
				ops = append(ops, op.report(o.Verbose))
			}
		}
		if len(ops) == 0 { // filtered out
			continue
		}
		slices.SortFunc(ops, func(a, b Operation) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Op, b.Op))
		})
		gr := groupReport(g)
		for k := range ops {
			ops[k].Group = len(r.Groups)
			gr.add(&ops[k])
		}
		r.Groups = append(r.Groups, gr)
		r.Operations = append(r.Operations, ops...)
		r.Warnings = append(r.Warnings, g.warnings(&gr, o)...)
	}
	r.Warnings = append(r.Warnings, s.clockWarnings()...)
	return r
}

func groupReport(g *Group) GroupReport {
	return GroupReport{
		WindowStart: utc(g.Start), WindowEnd: utc(g.End),
		WindowS: g.Seconds(), WindowBasis: g.Basis.String(),
		Concurrency: g.Threads, Clients: g.Clients,
	}
}

func (g *GroupReport) add(op *Operation) {
	g.Operations = append(g.Operations, op.Op)
	g.Requests += op.Requests
	g.Errors += op.Errors
	g.ObjectsPerS += op.ObjectsPerS
	g.BytesPerS += op.BytesPerS
}

// String is the name in JSON.
func (b Basis) String() string {
	switch b {
	case WarmUp:
		return "all"
	case NoWindow:
		return "none"
	case WholeStatement:
		return "statement"
	}
	return "active"
}

func (g *Group) warnings(r *GroupReport, o Options) []string {
	ops := strings.Join(r.Operations, ", ")
	if s := g.Ops[0].Statement; s.Number > 0 {
		ops = upperFirst(title(int(s.Number), s.WarmUp)) + ", " + ops
	}
	switch {
	case g.Basis == WarmUp:
		return []string{fmt.Sprintf("%s: the run is too short: no time in which every thread was past its first "+
			"request and before its last one. The figures cover all of it, warm-up included; run longer.", ops)}
	case g.Basis == NoWindow && o.Skip > 0:
		return []string{fmt.Sprintf("%s: nothing is left after skipping %v; there are no rates or latencies.", ops, o.Skip)}
	case g.Basis == NoWindow:
		return []string{fmt.Sprintf("%s: the %d runs do not overlap in time, so there is nothing to add up: "+
			"no rates or latencies. Analyze the logs one by one, or compare them.", ops, g.Runs)}
	}
	return nil
}

// clockWarnings tells of rows whose times cannot be.
func (s *Summary) clockWarnings() []string {
	var n uint64
	for _, op := range s.ops {
		for _, h := range op.hosts.vals {
			n += h.backwards
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d requests end before they start, so the clock was set back or the log is damaged; "+
		"they count as having taken no time.", n)}
}

// groupOp finds the operation in the plan.
func (o *opSummary) groupOp() GroupOp {
	for _, g := range o.group.Ops {
		if g.id() == o.opID {
			return g
		}
	}
	return GroupOp{Name: o.name, Statement: o.statement}
}

func (o *opSummary) report(verbose bool) Operation {
	g, planned, all := o.group, o.groupOp(), o.whole()
	total := all.total()
	op := Operation{
		Op: o.name, Statement: int(o.statement.Number), Warmup: o.statement.WarmUp, Requests: all.requests, Errors: all.errors, Retries: all.retries,
		ErrorsByCode: all.kinds.counts(), FirstErrors: all.kinds.first(),
		Share: ratio(float64(planned.Requests), float64(g.Requests)),
		Start: utc(planned.First), Stop: utc(planned.Last),
		RanS:        float64(distance(planned.First, planned.Last)) / 1e9,
		WindowStart: utc(g.Start), WindowEnd: utc(g.End), WindowS: g.Seconds(), WindowBasis: g.Basis.String(),
		Concurrency: g.Threads, Clients: g.Clients,
		Objects: float64(total.objects) / objectUnit, Bytes: total.bytes, Inside: all.latency.Count(),
		ObjectBytes:  all.sizes.bytesRange(),
		ObjectsPerOp: all.sizes.objectsRange(),
		Duration:     stats(&all.latency), TTFB: stats(&all.ttfb),
		Response: stats(&all.response), Lag: stats(&all.lag), HTTPPhases: all.phases.report(),
		SegmentS: float64(g.Segment) / 1e9, Segments: o.segments(&all.series),
	}
	op.ObjectsPerS, op.BytesPerS = ratio(op.Objects, op.WindowS), ratio(float64(op.Bytes), op.WindowS)
	if all.scheduled > 0 {
		op.OfferedPerS = ratio(float64(all.due), op.WindowS)
		op.AchievedPerS = ratio(float64(total.ended), op.WindowS)
	}
	op.Throughput = extremes(op.Segments, op.SegmentS, op.HasBytes())
	op.Hosts = o.hostParts(&op)
	op.ByClient = o.clientParts(&op)
	if verbose {
		op.Accesses = o.accesses(op.Inside)
		op.SizeClasses = o.sizeClasses(op.ObjectBytes)
	}
	return op
}

func (o *opSummary) hostParts(op *Operation) []Part {
	var parts []Part
	for i, h := range o.hosts.vals {
		total := h.total()
		t := h.tally
		t.bytes, t.objects = total.bytes, total.objects
		p := t.part(o.hosts.keys[i], o.group)
		p.HTTPPhases = h.phases.report()
		if len(o.hosts.vals) > 1 {
			p.Segments = o.segments(&h.series)
			p.Throughput = extremes(p.Segments, op.SegmentS, op.HasBytes())
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b Part) int { return strings.Compare(a.Name, b.Name) })
	return parts
}

func (o *opSummary) clientParts(op *Operation) []Part {
	if len(o.clients.vals) <= 1 || o.group.Clients <= 1 {
		p := Part{
			Name: o.group.Client.id, Run: o.group.Client.run,
			Requests: op.Requests, Errors: op.Errors, Inside: op.Inside, Objects: op.Objects, Bytes: op.Bytes,
			ObjectsPerS: op.ObjectsPerS, BytesPerS: op.BytesPerS, Duration: op.Duration, TTFB: op.TTFB,
		}
		if len(o.clients.keys) == 1 {
			p.Name, p.Run = o.clients.keys[0].id, o.clients.keys[0].run
		}
		return []Part{p}
	}
	var parts []Part
	for i, t := range o.clients.vals {
		p := t.part(o.clients.keys[i].id, o.group)
		p.Run = o.clients.keys[i].run
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Run, b.Run))
	})
	return parts
}

func (t *tally) part(name string, g *Group) Part {
	p := Part{
		Name: name, Requests: t.requests, Errors: t.errors, Inside: t.latency.Count(),
		Objects: float64(t.objects) / objectUnit, Bytes: t.bytes,
		Duration: stats(&t.latency), TTFB: stats(&t.ttfb),
	}
	p.ObjectsPerS, p.BytesPerS = ratio(p.Objects, g.Seconds()), ratio(float64(p.Bytes), g.Seconds())
	return p
}

// segments covers the whole window, also where nothing happened.
func (o *opSummary) segments(t *series) []Segment {
	if o.group.Basis == NoWindow {
		return []Segment{}
	}
	list := make([]Segment, t.limit())
	for i := range list {
		var g segment
		if i < len(t.segs) {
			g = t.segs[i]
		}
		from, to := t.bounds(i)
		s := Segment{
			Start: utc(from), DurationS: float64(distance(from, to)) / 1e9,
			Bytes: g.bytes, Objects: float64(g.objects) / objectUnit,
			FullOps: g.full, PartialOps: g.partial, OpsStarted: g.started, OpsEnded: g.ended, Errors: g.errors,
		}
		s.BytesPerS, s.ObjectsPerS = ratio(float64(s.Bytes), s.DurationS), ratio(s.Objects, s.DurationS)
		list[i] = s
	}
	return list
}

// extremes picks among full segments: a short last one would be noise.
func extremes(all []Segment, length float64, byBytes bool) *Extremes {
	list := make([]Segment, 0, len(all))
	for _, s := range all {
		if s.DurationS >= length {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		list = append(list, all...)
	}
	if len(list) == 0 {
		return nil
	}
	e := &Extremes{Segments: len(list), By: "objects"}
	rate := func(s *Segment) float64 { return s.ObjectsPerS }
	if byBytes {
		e.By = "bytes"
		rate = func(s *Segment) float64 { return s.BytesPerS }
	}
	sort.SliceStable(list, func(i, j int) bool { return rate(&list[i]) < rate(&list[j]) })
	e.Slowest, e.Median, e.Fastest = list[0], list[(len(list)-1)/2], list[len(list)-1]
	return e
}

// stats is nil where nothing was observed.
func stats(h *Hist) *Stats {
	if h.Count() == 0 {
		return nil
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return &Stats{
		Count: h.Count(), Mean: h.Mean() / 1e6, StdDev: h.StdDev() / 1e6,
		P25: ms(h.Quantile(.25)), P50: ms(h.Quantile(.5)), P75: ms(h.Quantile(.75)), P90: ms(h.Quantile(.9)),
		P99: ms(h.Quantile(.99)), P999: ms(h.Quantile(.999)), Min: ms(h.Min()), Max: ms(h.Max()),
	}
}

func (z *sizes) bytesRange() SizeRange {
	return SizeRange{z.minBytes, z.maxBytes, ratio(z.bytes.float(), float64(z.n))}
}

func (z *sizes) objectsRange() SizeRange {
	return SizeRange{z.minObjects, z.maxObjects, ratio(z.objects.float(), float64(z.n))}
}

func (e *errorKinds) counts() map[string]uint64 {
	m := map[string]uint64{}
	for code, k := range e.byCode {
		m[code] = k.count
	}
	if e.other.count > 0 {
		m[otherKinds] = e.other.count
	}
	return m
}

func (e *errorKinds) first() []FirstError {
	var list []FirstError
	for _, code := range e.codes() {
		k := e.byCode[code]
		list = append(list, FirstError{code, utc(k.start), k.text, k.endpoint})
	}
	if k := e.other; k.count > 0 {
		list = append(list, FirstError{otherKinds, utc(k.start), k.text, k.endpoint})
	}
	return list
}

// accesses is nil where no object was accessed twice: the first access is the
// last one then, and both are what the report shows already.
func (o *opSummary) accesses(inside uint64) *Accesses {
	if n := uint64(len(o.objects)); n == 0 || n >= inside {
		return nil
	}
	var first, firstTTFB, last, lastTTFB Hist
	for _, a := range o.objects {
		first.Add(a.first.latency)
		last.Add(a.last.latency)
		if a.first.hasTTFB {
			firstTTFB.Add(a.first.ttfb)
		}
		if a.last.hasTTFB {
			lastTTFB.Add(a.last.ttfb)
		}
	}
	return &Accesses{uint64(len(o.objects)), stats(&first), stats(&firstTTFB), stats(&last), stats(&lastTTFB)}
}

// sizeClasses is nil where all requests have the same size.
func (o *opSummary) sizeClasses(size SizeRange) []SizeClass {
	if size.Min == size.Max {
		return nil
	}
	var list []SizeClass
	for i, c := range o.classes {
		if c == nil {
			continue
		}
		k := SizeClass{
			From: classNames[i], MinBytes: classBorders[i], Requests: c.latency.Count(), Bytes: c.bytes.lo,
			Duration: stats(&c.latency), TTFB: stats(&c.ttfb),
		}
		if i+1 < len(classNames) {
			k.To = classNames[i+1]
		}
		if h := &c.speed; h.Count() > 0 {
			k.Speed = &Speed{
				Mean: ratio(c.bytes.float(), c.latency.sum.float()/1e9),
				P50:  float64(h.Quantile(.5)), P90: float64(h.Quantile(.1)), P99: float64(h.Quantile(.01)),
				Fastest: float64(h.Max()), Slowest: float64(h.Min()),
			}
		}
		list = append(list, k)
	}
	return list
}

// ratio is 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func utc(ns int64) time.Time { return time.Unix(0, ns).UTC() }
