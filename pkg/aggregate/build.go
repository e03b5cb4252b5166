package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// A view selects what the report shows of an operation: its window, or
// everything.
type view struct {
	op         *opSummary
	counts     *windowStats
	totals     *totals
	threads    keyed[clientID, threadSet] // of one run
	basis      results.Basis
	start, end int64

	first, last int64 // start of the first request and end of the last one
	requests    uint64
}

// seconds returns the length of the window.
func (v *view) seconds() float64 { return float64(exact.Distance(v.start, v.end)) / 1e9 }

// A groupView selects what the report shows of a group.
type groupView struct {
	*group
	ops        []*view
	run        string // limits the view to this run; "" = all
	basis      results.Basis
	start, end int64
	requests   uint64
}

// Report computes the figures. It does not change the summary; more rows can be
// added afterwards.
func (s *Summary) Report() (*results.Report, error) {
	wanted, err := s.matchOp()
	if err == nil {
		err = s.matchHost(wanted)
	}
	if err != nil {
		return nil, err
	}
	r := &results.Report{Version: 2, Warnings: []string{}, Groups: []results.GroupReport{}, Operations: []results.Operation{}, Runs: sortedKeys(s.runs)}
	divided := map[*group]bool{}
	for _, g := range s.views() {
		known := len(r.Groups)
		if err := s.reportGroup(r, g, wanted); err != nil {
			return nil, err
		}
		if g.run != "" && len(r.Groups) > known && !divided[g.group] {
			divided[g.group] = true
			r.Warnings = append(r.Warnings, g.apartWarning())
		}
	}
	r.Marks = s.markCounts.Reports(s.windows.Common, s.options.Skip, s.marks, s.firstUnsent())
	r.Warnings = append(r.Warnings, s.clockWarnings()...)
	return r, nil
}

// views decides what to report of each group, in order of time.
func (s *Summary) views() []*groupView {
	// Runs that hardly overlap are reported separately.
	apart := s.options.Skip <= 0 && slices.ContainsFunc(s.groups, func(g *group) bool {
		return (g.Kind == measured || g.Kind == derived) && len(g.runKeys()) > 1 && g.inside() < fewRequests
	})
	var all []*groupView
	for _, g := range s.groups {
		runs := g.runKeys()
		if len(runs) < 2 || !apart || g.inside() >= fewRequests {
			runs = []string{""}
		}
		for _, run := range runs {
			for _, ops := range g.together(run) {
				all = append(all, g.view(run, ops, &s.options))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *groupView) int {
		x, y := a.times(), b.times()
		return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.last, y.last), a.ops[0].op.ID.compare(b.ops[0].op.ID), strings.Compare(a.run, b.run))
	})
	return all
}

// times returns the start of the first request and the end of the last one.
func (g *groupView) times() timeRange {
	t := timeRange{math.MaxInt64, math.MinInt64}
	for _, v := range g.ops {
		t = timeRange{min(t.first, v.first), max(t.last, v.last)}
	}
	return t
}

// together returns the operations to report together, of all runs or of one. In
// a log without windows, operations of one run are together if their times
// overlap in this run, whatever they do in others.
func (g *group) together(run string) [][]*opSummary {
	ops := slices.DeleteFunc(slices.Clone(g.Ops), func(o *opSummary) bool { return o.Requests == 0 || run != "" && o.Whole.get(run) == nil })
	switch {
	case len(ops) == 0:
		return nil
	case run == "" || g.Kind != derived:
		return [][]*opSummary{ops}
	}
	return joined(ops, func(a, b *opSummary) bool { return a.Whole.get(run).timeRange().overlaps(b.Whole.get(run).timeRange()) })
}

func (p *windowStats) timeRange() timeRange { return timeRange{p.First, p.Last} }

// runKeys returns the runs of the group, sorted.
func (g *group) runKeys() []string {
	keys := map[string]bool{}
	for _, c := range g.Clients {
		keys[c.Client.runKey()] = true
	}
	return sortedKeys(keys)
}

// inside counts the successful requests that started in the window.
func (g *group) inside() (n uint64) {
	for _, op := range g.Ops {
		n += op.Inside
	}
	return n
}

// view returns the view of the group, or of one of its runs as a whole.
func (g *group) view(run string, ops []*opSummary, o *Options) *groupView {
	v := &groupView{group: g, run: run, basis: g.basis}
	first, last := span(ops, run)
	for _, op := range ops {
		one := op.view(g, run, first, last, o)
		v.ops = append(v.ops, one)
		v.requests += one.requests
	}
	slices.SortFunc(v.ops, func(a, b *view) int { return a.op.ID.compare(b.op.ID) })
	v.start, v.end = g.window.Begin, g.window.End
	if in := v.ops[0].op.In; in != nil {
		v.start = in.From
	}
	if v.end == 0 { // the end is not known yet
		for _, op := range v.ops {
			v.end = max(v.end, op.end)
		}
	}
	if !slices.ContainsFunc(v.ops, func(op *view) bool { return op.basis == g.basis && g.basis != results.Whole }) {
		v.basis = v.ops[0].basis
		v.start, v.end = v.ops[0].start, v.ops[0].end
		for _, op := range v.ops {
			v.start, v.end = min(v.start, op.start), max(v.end, op.end)
		}
	}
	return v
}

// view returns the window if enough requests started in it, and otherwise
// everything.
func (o *opSummary) view(g *group, run string, first, last int64, options *Options) *view {
	if run == "" && o.In != nil && (o.Enough || options.Skip > 0) {
		v := &view{op: o, counts: o.In, totals: o.allTotals(), first: o.First, last: o.Last, requests: o.Requests, basis: g.basis, start: o.In.From, end: o.In.To}
		if v.end == math.MaxInt64 { // the end is not known yet
			v.end = max(o.Last, v.start)
		}
		if v.end <= v.start && o.Inside == 0 {
			v.basis = results.NoWindow
		}
		return v
	}
	v := &view{op: o, first: o.First, last: o.Last, requests: o.Requests, basis: results.Whole, start: first, end: last}
	all := &runPart{windowStats: *newWindowStats(math.MinInt64, math.MaxInt64, options.SegmentDur, options.Slices)}
	for i, p := range o.Whole.Vals {
		if run == "" || o.Whole.Keys[i] == run {
			all.merge(p)
		}
	}
	v.counts, v.totals, v.threads = &all.windowStats, &all.Totals, all.Threads
	if run != "" {
		v.first, v.last, v.requests = all.First, all.Last, all.Totals.requests()
	}
	return v
}

// span returns the start of the first request and the end of the last one, in
// all runs or in one.
func span(ops []*opSummary, run string) (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	for _, op := range ops {
		t := timeRange{op.First, op.Last}
		if run != "" {
			t = op.Whole.get(run).timeRange()
		}
		first, last = min(first, t.first), max(last, t.last)
	}
	return first, last
}

// whole returns the sum over all hosts.
func (p *windowStats) whole() *hostSummary {
	sum := p.newHost()
	for _, h := range p.Hosts.Vals {
		sum.merge(h)
	}
	if p.AllHosts != nil {
		sum.Series.Merge(p.AllHosts)
	}
	return sum
}

func (s *Summary) reportGroup(r *results.Report, g *groupView, wanted string) error {
	var ops []results.Operation
	var views []*view
	var latency, wire stats.Histogram
	for _, v := range g.ops {
		if wanted != "" && v.op.ID.Name != wanted || len(v.counts.Hosts.Keys) == 0 && s.options.Host != "" {
			continue
		}
		op, err := s.reportOp(g, v)
		if err != nil {
			return err
		}
		ops, views = append(ops, op), append(views, v)
		for _, h := range v.counts.Hosts.Vals {
			latency.Merge(&h.Latency)
			wire.Merge(&h.Wire)
		}
	}
	if len(ops) == 0 { // filtered out
		return nil
	}
	slices.SortFunc(ops, func(a, b results.Operation) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Op, b.Op))
	})
	oneObject(ops)
	gr := g.report()
	for k := range ops {
		ops[k].Group = len(r.Groups)
		addOperation(&gr, &ops[k])
	}
	if len(ops) > 1 {
		gr.Duration, gr.Wire = results.StatsOf(&latency), wireStats(&wire, &latency)
	}
	gr.ClientShare = g.clientShare(views)
	for k := range ops {
		ops[k].ClientShare = gr.ClientShare
	}
	var err error
	if gr.Timeline, err = g.groupTimeline(views, &gr, ops, &s.options); err != nil {
		return err
	}
	s.schedule(&gr, g, ops)
	r.Groups = append(r.Groups, gr)
	r.Operations = append(r.Operations, ops...)
	r.Warnings = append(r.Warnings, g.warnings(&gr, ops, &s.options, s.stageLength(g) > 0)...)
	return nil
}

func (g *groupView) report() results.GroupReport {
	clients, threads := g.threads()
	return results.GroupReport{
		Run: g.runID(), Kind: g.Kind.String(), WindowStart: utc(g.start), WindowEnd: utc(g.end),
		WindowS: float64(exact.Distance(g.start, g.end)) / 1e9, WindowBasis: g.basis, ColdWorkers: g.coldWorkers(),
		Concurrency: threads, Clients: clients,
	}
}

// coldWorkers returns how many workers had not finished a request when the
// window began.
func (g *groupView) coldWorkers() int {
	if g.run != "" {
		return g.cold[g.run]
	}
	return g.window.Cold
}

// String is the name in JSON.
func (k groupKind) String() string {
	return [...]string{results.KindPreparation, results.KindMeasured, results.KindStatement, results.KindDerived}[k]
}

func addOperation(g *results.GroupReport, op *results.Operation) {
	g.Operations = append(g.Operations, op.Op)
	g.Requests += op.Requests
	g.Errors += op.Errors
	g.ObjectsPerS += op.ObjectsPerS
	g.BytesPerS += op.BytesPerS
}

// runID returns the run of the view, or the client if the log has no run IDs;
// "" if the view covers all runs.
func (g *groupView) runID() string {
	_, id, _ := strings.Cut(g.run, " ")
	return id
}

// threads returns how many clients and how many of their threads the view has.
func (g *groupView) threads() (clients, threads int) {
	all := map[clientID]*threadSet{}
	if g.run == "" {
		for _, c := range g.Clients {
			all[c.Client] = &c.Threads
		}
	}
	for _, v := range g.ops {
		for i, c := range v.threads.Keys {
			if g.run == "" {
				break // the group knows all
			}
			if all[c] == nil {
				all[c] = new(threadSet)
			}
			all[c].merge(*v.threads.Vals[i])
		}
	}
	for _, t := range all {
		threads += t.count()
	}
	return len(all), threads
}

func (s *Summary) reportOp(g *groupView, v *view) (results.Operation, error) {
	o, all := v.op, v.counts.whole()
	for _, h := range append(slices.Clone(v.counts.Hosts.Vals), all) {
		h.Series.Fit(v.start, v.end)
	}
	err := stats.CheckSegments(exact.Distance(v.start, v.end), s.options.SegmentDur)
	if err == nil && all.Series.TooMany {
		err = fmt.Errorf("segments of %v cut the time of the requests into more than 100,000: choose longer ones", s.options.SegmentDur)
	}
	if err != nil {
		return results.Operation{}, err
	}
	clients, threads := g.threads()
	sizes := &v.totals.Sizes
	total, pieces := all.Series.Total(), all.Series.Between(v.start, v.end)
	op := results.Operation{
		Op: o.ID.Name, Statement: int(o.ID.Statement.Number), Warmup: o.ID.Statement.WarmUp, Requests: v.totals.requests(), Errors: all.Errors,
		ErrorsByCode: all.Kinds.counts(), FirstErrors: all.Kinds.first(),
		Share: exact.Ratio(float64(v.requests), float64(g.requests)),
		Start: utc(v.first), Stop: utc(v.last), RanS: float64(exact.Distance(v.first, v.last)) / 1e9,
		WindowStart: utc(v.start), WindowEnd: utc(v.end), WindowS: v.seconds(), WindowBasis: v.basis,
		Concurrency: threads, Clients: clients,
		WarmUp: o.WarmUp.report(), Late: o.Late.report(), InFlight: o.InFlight.report(),
		Objects: float64(total.Objects) / stats.ObjectUnit, Bytes: total.Bytes, Inside: all.Latency.Count(),
		ObjectBytes:  results.SizeRange{Min: sizes.MinBytes, Max: sizes.MaxBytes, Mean: exact.Ratio(sizes.Bytes.Float(), float64(sizes.N))},
		ObjectsPerOp: results.SizeRange{Min: sizes.MinObjects, Max: sizes.MaxObjects, Mean: exact.Ratio(sizes.Objects.Float(), float64(sizes.N))},
		Duration:     results.StatsOf(&all.Latency), TTFB: results.StatsOf(&all.TTFB),
		Response: results.StatsOf(&all.Response), Lag: results.StatsOf(&all.Lag),
		Wire: wireStats(&all.Wire, &all.Latency), Client: wireStats(&all.ClientTime, &all.Latency),
		DurationHDR: all.Latency.EncodeHDR(), ResponseHDR: all.Response.EncodeHDR(),
		SegmentS: float64(all.Series.Dur) / 1e9, Segments: segments(pieces, true), HeatMap: heatMap(pieces), Pieces: pieces,
	}
	if v.basis == results.Whole { // the view has no warm-up or tail
		op.WarmUp, op.Late, op.InFlight = results.Outside{}, results.Outside{}, results.Flight{}
	}
	v.counts.sections.report(&op)
	v.failures(op.Segments, all)
	op.Retries, op.HTTPPhases = v.totals.retries(), v.totals.phases(all.Phases)
	op.ObjectsPerS, op.BytesPerS = exact.Ratio(op.Objects, op.WindowS), exact.Ratio(float64(op.Bytes), op.WindowS)
	judged := segments(stats.JoinPieces(pieces, all.Series.Dur), true)
	op.Throughput = results.ExtremesOf(judged, op.HasBytes())
	if op.WindowS > 0 && g.Kind != preparation {
		op.Stability = results.StabilityOf(&op, judged)
	}
	op.Hosts = v.hostParts(&op)
	op.ByClient = v.clientParts(&op)
	if s.options.Verbose {
		op.Accesses = v.totals.accesses()
		op.SizeClasses = v.counts.sizeClasses(op.ObjectBytes)
	}
	op.Timeline, err = v.timeline(all, &op, &s.options)
	return op, err
}

func (o *outside) report() results.Outside {
	r := results.Outside{Requests: o.Requests, Errors: o.Errors, ErrorsByCode: o.Kinds.counts(), FirstErrors: o.Kinds.first()}
	if o.Requests > 0 {
		r.LongestMS, r.LongestStart = float64(o.Longest)/1e6, new(utc(o.LongestStart))
	}
	return r
}

func (f *flight) report() results.Flight {
	return results.Flight{Requests: f.Count, ShortestMS: float64(f.Shortest) / 1e6, LongestMS: float64(f.Longest) / 1e6}
}

// schedule adds the figures of an open loop: how many requests were due, and
// their response times.
func (s *Summary) schedule(r *results.GroupReport, g *groupView, ops []results.Operation) {
	var response, waits stats.Histogram
	var due, ended, requests uint64
	for _, v := range g.ops {
		for _, h := range v.counts.Hosts.Vals {
			due += h.Due
			requests += h.Requests
			ended += h.Series.Total().Ended
			response.Merge(&h.Response)
		}
	}
	switch n := int(g.Statement.Number); {
	// In one of several runs, only the operations that had a schedule may have unsent requests.
	case g.Kind == measured && (g.run == "" || due > 0), g.Kind == derived && due > 0:
		for _, t := range s.trailers(g.run) {
			t.UnsentWaits.Each(func(due int64, wait time.Duration) {
				if due >= g.start && due <= g.end {
					waits.Add(wait)
				}
			})
		}
	case n > 0:
		for _, t := range s.trailers(g.run) {
			if n <= len(t.UnsentStages) {
				t.UnsentStages[n-1].Each(func(_ int64, wait time.Duration) { waits.Add(wait) })
			}
		}
	}
	if due+waits.Count() == 0 || due < requests {
		return
	}
	asked, took := r.WindowS, r.WindowS
	if length := s.stageLength(g); length > 0 {
		asked, took = length, max(length, r.WindowS) // its last answers may come later
	}
	r.OfferedPerS, r.AchievedPerS = exact.Ratio(float64(due+waits.Count()), asked), exact.Ratio(float64(ended), took)
	r.Unsent = int64(waits.Count())
	response.Merge(&waits)
	r.Response = withUnsent(results.StatsOf(&response), &waits)
	r.Timeline.AddUnsent(&waits)
	if len(g.ops) == 1 {
		ops[0].Response, ops[0].ResponseHDR = r.Response, response.EncodeHDR() // the group is the operation
		ops[0].Timeline.AddUnsent(&waits)
	}
}

// stageLength returns how long a stage asked for requests, in s; 0 if the group is not a stage, or its log was cut off.
func (s *Summary) stageLength(g *groupView) (length float64) {
	n := int(g.Statement.Number)
	for _, t := range s.trailers("") {
		if n > 0 && n <= len(t.StageLengths) {
			length = max(length, float64(t.StageLengths[n-1])/1e9)
		}
	}
	return length
}

// trailers returns the trailers of the logs of a run, "" for all runs.
func (s *Summary) trailers(run string) (all []*oplog.Trailer) {
	if s.trailer == nil {
		return nil
	}
	for i, t := range append([]*oplog.Trailer{s.trailer}, s.trailer.Merged...) {
		other := run != "" && i > 0 && i <= len(s.merged) && s.merged[i-1] != run
		if t != nil && !other {
			all = append(all, t)
		}
	}
	return all
}

func withUnsent(s *results.Stats, waits *stats.Histogram) *results.Stats {
	if s != nil && waits.Count() > 0 {
		s.Unsent, s.UnsentMin = waits.Count(), float64(waits.Min())/1e6
	}
	return s
}

// clockWarnings reports rows whose times are impossible.
func (s *Summary) clockWarnings() []string {
	var n uint64
	for _, g := range s.groups {
		for _, op := range g.Ops {
			for _, h := range op.allTotals().Hosts.Vals {
				n += h.Backwards
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{human.Count(n, "request ends before it starts", "requests end before they start") +
		": the clock was set back, or the log is damaged. Each counts as having taken no time."}
}

func (v *view) hostParts(op *results.Operation) []results.Part {
	parts := []results.Part{}
	hosts := v.counts.Hosts
	for i, h := range hosts.Vals {
		total := h.Series.Total()
		t := h.counters
		t.Bytes, t.Objects = total.Bytes, total.Objects
		p := t.reportPart(hosts.Keys[i], v)
		if seen := v.totals.Hosts.get(hosts.Keys[i]); seen != nil {
			one := totals{Hosts: keyed[string, hostTotals]{Vals: []*hostTotals{seen}}}
			p.HTTPPhases = one.phases(h.Phases)
		}
		if len(hosts.Vals) > 1 {
			pieces, timed := h.Series.Between(v.start, v.end), v.counts.AllHosts == nil
			p.Segments = segments(pieces, timed)
			p.Throughput = results.ExtremesOf(segments(stats.JoinPieces(pieces, h.Series.Dur), timed), op.HasBytes())
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b results.Part) int { return strings.Compare(a.Name, b.Name) })
	return parts
}

func (v *view) clientParts(op *results.Operation) []results.Part {
	parts := []results.Part{}
	for i, t := range v.counts.Clients.Vals {
		p := t.reportPart(v.counts.Clients.Keys[i].ID, v)
		p.Run = v.counts.Clients.Keys[i].Run
		parts = append(parts, p)
	}
	if len(parts) == 1 { // avoid a rounding difference to the operation
		p := &parts[0]
		p.Objects, p.Bytes, p.ObjectsPerS, p.BytesPerS = op.Objects, op.Bytes, op.ObjectsPerS, op.BytesPerS
	}
	slices.SortFunc(parts, func(a, b results.Part) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Run, b.Run))
	})
	return parts
}

func (t *counters) reportPart(name string, v *view) results.Part {
	p := results.Part{
		Name: name, Requests: t.Requests, Errors: t.Errors, Inside: t.Latency.Count(),
		Objects: float64(t.Objects) / stats.ObjectUnit, Bytes: t.Bytes,
		Duration: results.StatsOf(&t.Latency), TTFB: results.StatsOf(&t.TTFB), Wire: wireStats(&t.Wire, &t.Latency),
	}
	p.ObjectsPerS, p.BytesPerS = exact.Ratio(p.Objects, v.seconds()), exact.Ratio(float64(p.Bytes), v.seconds())
	return p
}

// segments lists all segments of the window, including empty ones. Timed adds
// the request times.
func segments(pieces []stats.Piece, timed bool) []results.Segment {
	list := make([]results.Segment, 0, len(pieces))
	for i := range pieces {
		g := &pieces[i]
		s := results.Segment{
			Start: utc(g.From), DurationS: float64(exact.Distance(g.From, g.To)) / 1e9,
			Bytes: g.Bytes, Objects: float64(g.Objects) / stats.ObjectUnit, FullOps: g.Full, PartialOps: g.Partial,
			OpsStarted: g.Started, OpsEnded: g.Ended, Errors: g.Errors,
		}
		s.BytesPerS, s.ObjectsPerS = exact.Ratio(float64(s.Bytes), s.DurationS), exact.Ratio(s.Objects, s.DurationS)
		if timed {
			timeSegment(&s, g)
		}
		list = append(list, s)
	}
	return list
}

// failures adds errors by code to the segments.
func (v *view) failures(list []results.Segment, all *hostSummary) {
	if v.counts.Failed == nil {
		return
	}
	t := v.counts.empty().failed()
	t.Merge(v.counts.Failed)
	t.Fit(v.start, v.end)
	t.JoinAs(&all.Series)
	for i, g := range t.Between(v.start, v.end) {
		for code, n := range g.Failed {
			if all.Kinds.ByCode[code] == nil {
				code = otherKinds
			}
			if list[i].ErrorsByCode == nil {
				list[i].ErrorsByCode = map[string]uint64{}
			}
			list[i].ErrorsByCode[code] += n
		}
	}
}

// timeSegment adds the times of the requests that started in s.
func timeSegment(s *results.Segment, g *stats.Piece) {
	var inside uint64
	if h := g.Latency; h != nil {
		inside = h.Count()
		q := h.Quantiles(.5, .9, .99)
		ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
		s.Duration = &results.SegmentStats{Count: inside, P50: ms(q[0]), P90: ms(q[1]), P99: ms(q[2]), Max: ms(h.Max())}
		if results.Stamped(g.Part.N, inside) {
			s.ClientShare = new(g.Part.Share())
		}
	}
	if started := inside + s.Errors; started > 0 {
		s.ErrorRate = new(exact.Ratio(float64(s.Errors), float64(started)))
	}
}

func (e *errorKinds) counts() map[string]uint64 {
	m := map[string]uint64{}
	for code, k := range e.ByCode {
		m[code] = k.Count
	}
	if e.Other.Count > 0 {
		m[otherKinds] = e.Other.Count
	}
	return m
}

func (e *errorKinds) first() []results.FirstError {
	var list []results.FirstError
	for _, code := range sortedKeys(e.ByCode) {
		k := e.ByCode[code]
		list = append(list, results.FirstError{Code: code, Time: utc(k.Start), Error: k.Text, Endpoint: k.Endpoint})
	}
	if k := e.Other; k.Count > 0 {
		list = append(list, results.FirstError{Code: otherKinds, Time: utc(k.Start), Error: k.Text, Endpoint: k.Endpoint})
	}
	return list
}

// accesses returns nil if no object was accessed twice: first and last access
// are then the same, and the report shows them already.
func (t *totals) accesses() *results.Accesses {
	t.sample()
	if n := uint64(len(t.Objects)); n == 0 || n >= t.Sizes.N {
		return nil
	}
	var first, firstTTFB, last, lastTTFB stats.Histogram
	for _, a := range t.Objects {
		first.Add(a.First.Latency)
		last.Add(a.Last.Latency)
		if a.First.HasTTFB {
			firstTTFB.Add(a.First.TTFB)
		}
		if a.Last.HasTTFB {
			lastTTFB.Add(a.Last.TTFB)
		}
	}
	return &results.Accesses{Objects: uint64(len(t.Objects)), Sampled: t.Sampled, First: results.StatsOf(&first), FirstTTFB: results.StatsOf(&firstTTFB), Last: results.StatsOf(&last), LastTTFB: results.StatsOf(&lastTTFB)}
}

// sizeClasses returns nil if all requests have the same size.
func (p *windowStats) sizeClasses(size results.SizeRange) []results.SizeClass {
	if size.Min == size.Max {
		return nil
	}
	var list []results.SizeClass
	for i, c := range p.Classes {
		if c == nil {
			continue
		}
		k := results.SizeClass{
			From: classNames[i], MinBytes: classBorders[i], Requests: c.Latency.Count(), Bytes: c.Bytes.Lo,
			Duration: results.StatsOf(&c.Latency), TTFB: results.StatsOf(&c.TTFB),
		}
		if i+1 < len(classNames) {
			k.To = classNames[i+1]
		}
		if h := &c.Speed; h.Count() > 0 {
			k.Speed = &results.Speed{
				Mean: exact.Ratio(c.Bytes.Float(), c.Latency.Sum()/1e9),
				P50:  float64(h.Quantile(.5)), P90: float64(h.Quantile(.1)), P99: float64(h.Quantile(.01)),
				Fastest: float64(h.Max()), Slowest: float64(h.Min()),
			}
		}
		list = append(list, k)
	}
	return list
}

func utc(ns int64) time.Time { return time.Unix(0, ns).UTC() }
