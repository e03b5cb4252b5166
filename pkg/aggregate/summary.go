package aggregate

import (
	"math"
	"slices"
	"strings"
	"time"

	"warp/internal/exact"
	"warp/pkg/aggregate/marks"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// fewRequests is the minimum of successful requests that must start in the
// window for an operation to be reported by it. With fewer, it is reported as a
// whole.
const fewRequests = 10

// A Summary counts the requests of a run as they arrive, separately for
// preparation, warm-up and window. It holds only integers, so the order of rows
// and of merging does not change the report. Its memory depends on the numbers
// of operations, hosts, clients and segments, not on the number of requests
// (except with Verbose, where it grows with the number of distinct objects).
//
// The exported fields are sent from a client to its coordinator, see Encode.
type Summary struct {
	options    Options
	windows    runWindows
	groups     []*group
	last       *group
	runs       map[string]bool
	trailer    *oplog.Trailer
	merged     []string     // the runs of trailer.Merged; nil if they are not known
	marks      []oplog.Mark // in the order of the log
	markCounts marks.Counts
}

// NewSummary begins a summary. Its windows are not known yet; see SetWindow.
func NewSummary(o Options) *Summary {
	return &Summary{options: o, windows: runWindows{Basis: results.Measured}, runs: map[string]bool{}}
}

// A groupKind is why operations are reported together.
type groupKind int

const (
	preparation groupKind = iota // before the measured part of the run
	measured                     // the measured part
	statement                    // one statement of a script, or its warm-up
	derived                      // operations that ran at the same time, in a log without windows
)

// A group is a set of operations that are reported together.
type group struct {
	Kind      groupKind
	Statement oplog.Statement
	Ops       []*opSummary
	Clients   []*groupClient

	window     oplog.Window // as far as it is known; a derived window as far as the rows show it
	basis      results.Basis
	runs       []oplog.Window // of each run if there are several
	cold       map[string]int // of each run in a merged log
	lastOp     *opSummary
	lastClient *groupClient
}

// A groupClient is one client's part in a group.
type groupClient struct {
	Client  clientID
	Threads threadSet

	run string // the identity of its run
}

// An opSummary is one operation of a group.
type opSummary struct {
	ID                     opID
	Requests               uint64 // all
	First, Last, LastStart int64  // start of the first request, end of the last one, start of the latest
	Totals                 totals // once In has enough requests; before that they are in Whole

	In       *windowStats           // the window; nil if there is none yet
	Inside   uint64                 // successful requests that started in the window, on any host
	Whole    keyed[string, runPart] // by run: everything, while In may still turn out to have too few requests
	Enough   bool                   // In has enough requests
	WarmUp   outside                // started before the window
	Late     outside                // started after the window
	InFlight flight                 // in flight when the window began
}

// outside counts requests outside the window.
type outside struct {
	Requests, Errors uint64
	Kinds            errorKinds
	Longest          time.Duration // wait of all requests
	LongestStart     int64         // its start, or when it was due; the earliest among equal ones
}

func (o *outside) merge(p *outside) {
	if p.Requests > 0 {
		o.took(p.Longest, p.LongestStart)
	}
	o.Requests += p.Requests
	o.Errors += p.Errors
	o.Kinds.mergeAll(&p.Kinds)
}

// A flight is a number of requests and their shortest and longest duration.
type flight struct {
	Count             uint64
	Shortest, Longest time.Duration
}

func (f *flight) add(d time.Duration) {
	f.merge(&flight{1, d, d})
}

func (f *flight) merge(o *flight) {
	if f.Count == 0 || o.Count > 0 && o.Shortest < f.Shortest {
		f.Shortest = o.Shortest
	}
	f.Count += o.Count
	f.Longest = max(f.Longest, o.Longest)
}

// windowStats counts an operation in a window, or as a whole.
type windowStats struct {
	Hosts    keyed[string, hostSummary]
	Clients  keyed[clientID, counters]
	AllHosts *stats.Series `json:",omitempty"` // request times of all hosts together, if there are too many hosts
	Failed   *stats.Series `json:",omitempty"` // failed requests by code, on all hosts; nil if none failed
	Classes  [len(classBorders)]*sizeClass

	From, To int64
	Asked    time.Duration
	Cuts     []time.Duration `json:",omitempty"` // see Options.Slices
	Slices   []stats.Series  `json:",omitempty"` // one for each of Cuts

	First, Last int64 // start of the first request and end of the last one

	sections
}

func newWindowStats(from, to int64, asked time.Duration, cuts []time.Duration) *windowStats {
	p := &windowStats{From: from, To: to, Asked: asked, Cuts: cuts, First: math.MaxInt64, Last: math.MinInt64}
	p.Slices = p.newSlices()
	return p
}

func (p *windowStats) seen(start, end int64) { p.First, p.Last = min(p.First, start), max(p.Last, end) }

// counters counts the requests of a host or a client.
type counters struct {
	Requests, Errors uint64          // started in the window
	Bytes, Objects   uint64          // by share of time; objects in stats.ObjectUnit
	Latency, TTFB    stats.Histogram // of successful requests that started in the window
	Wire             stats.Histogram // the part of Latency that was not the client's, where it is known
}

// A hostSummary counts the requests to one host. The operation is the sum of
// its hosts and not counted again.
type hostSummary struct {
	counters      // without bytes and objects, which are the sums of Series
	Series        stats.Series
	Kinds         errorKinds
	Response, Lag stats.Histogram
	ClientTime    stats.Histogram // the rest of Latency, where Wire is known
	Due           uint64          // requests due in the window
	Phases        *phaseHists     // of exchanges; nil if none were recorded
}

// keyed is a small map that caches its last lookup.
type keyed[K comparable, V any] struct {
	Keys  []K
	Vals  []*V
	index map[K]int
	last  int
}

// get returns nil if the key does not exist.
func (k *keyed[K, V]) get(key K) *V {
	if k.last < len(k.Keys) && k.Keys[k.last] == key {
		return k.Vals[k.last]
	}
	if k.index == nil {
		k.index = make(map[K]int, len(k.Keys))
		for i, key := range k.Keys {
			k.index[key] = i
		}
	}
	i, ok := k.index[key]
	if !ok {
		return nil
	}
	k.last = i
	return k.Vals[i]
}

func (k *keyed[K, V]) put(key K, val *V) *V {
	if k.index == nil {
		k.index = map[K]int{}
	}
	k.last = len(k.Keys)
	k.index[key] = k.last
	k.Keys, k.Vals = append(k.Keys, key), append(k.Vals, val)
	return val
}

// Write adds a batch; it never fails.
func (s *Summary) Write(batch []oplog.Record) error {
	for i := range batch {
		s.Add(&batch[i])
	}
	return nil
}

// Flush does nothing.
func (s *Summary) Flush() error { return nil }

// SetWindow sets the window of the run, as far as it is known. Rows that follow
// may have ended after it; earlier rows have not.
func (s *Summary) SetWindow(w oplog.Window) error {
	s.windows.Common = w
	for _, g := range s.groups {
		if g.Kind == measured {
			g.setWindow(w, &s.options)
		}
	}
	return nil
}

// setWindow opens or closes the windows of all operations.
func (g *group) setWindow(w oplog.Window, o *Options) {
	g.window = w
	for _, op := range g.Ops {
		g.open(op, o)
	}
}

// open gives an operation a window once the window has begun.
func (g *group) open(op *opSummary, o *Options) {
	if op.In == nil && g.window.Begin != 0 && !op.Enough {
		begin := exact.AddInt(g.window.Begin, int64(max(o.Skip, 0)))
		op.In = newWindowStats(begin, math.MaxInt64, o.SegmentDur, o.Slices)
	}
	if op.In != nil && g.window.End != 0 {
		op.In.end(max(g.window.End, op.In.From))
	}
}

// end closes the window.
func (p *windowStats) end(at int64) {
	if p.To == at {
		return
	}
	p.To = at
	for _, h := range p.Hosts.Vals {
		h.Series.End(at)
	}
	for _, t := range []*stats.Series{p.AllHosts, p.Failed} {
		if t != nil {
			t.End(at)
		}
	}
	for i := range p.Slices {
		p.Slices[i].End(at)
	}
}

// Add counts one request.
func (s *Summary) Add(r *oplog.Record) {
	start, end := r.Span()
	g := s.group(r, start)
	if g == nil {
		return
	}
	c := g.client(r.Run, r.Client, s)
	c.Threads.add(r.Thread)
	op := g.op(idOf(r), &s.options)
	op.seen(start, end)
	op.started(r)
	all := op.totals(c, &s.options)
	host := all.host(r.Endpoint, s.options.Host)
	if host.unwanted {
		return
	}
	host.add(r)
	if r.Err == "" {
		all.succeed(r, s.options.Verbose)
	}
	s.count(g, op, c, r, start, end)
	s.countMarks(g, op, r)
}

// group returns the group of a request.
func (s *Summary) group(r *oplog.Record, start int64) *group {
	switch {
	case r.Statement.Number > 0:
		return s.groupOf(statement, r.Statement)
	case s.windows.ops != nil:
		return s.derivedGroup(idOf(r))
	}
	begin := s.windows.Common.Start
	if s.windows.starts != nil || begin == 0 {
		begin = s.windows.start(clientID{r.Run, r.Client})
	}
	if start < begin {
		return s.groupOf(preparation, oplog.Statement{})
	}
	return s.groupOf(measured, oplog.Statement{})
}

// groupOf finds or creates a group.
func (s *Summary) groupOf(kind groupKind, st oplog.Statement) *group {
	if g := s.last; g != nil && g.Kind == kind && g.Statement == st && kind != derived {
		return g
	}
	for _, g := range s.groups {
		if g.Kind == kind && g.Statement == st && kind != derived {
			s.last = g
			return g
		}
	}
	g := &group{Kind: kind, Statement: st, basis: results.Whole}
	if kind == measured {
		g.basis, g.window, g.runs, g.cold = s.windows.Basis, s.windows.Common, s.windows.each, s.windows.cold
	}
	s.groups = append(s.groups, g)
	s.last = g
	return g
}

// derivedGroup returns the group that the survey assigned to the operation.
func (s *Summary) derivedGroup(id opID) *group {
	if g := s.last; g != nil && g.lastOp != nil && g.lastOp.ID == id {
		return g
	}
	for _, g := range s.groups {
		if g.has(id) {
			s.last = g
			return g
		}
	}
	d := s.windows.ops[id]
	if d == nil {
		return nil // the file has grown since the survey
	}
	g := &group{Kind: derived, basis: results.Derived, window: oplog.Window{Begin: d.begin, End: d.end}, runs: d.runs}
	for _, op := range d.ops {
		g.op(op, &s.options)
	}
	s.groups = append(s.groups, g)
	s.last = g
	return g
}

func (g *group) has(id opID) bool {
	return slices.ContainsFunc(g.Ops, func(o *opSummary) bool { return o.ID == id })
}

// op finds an operation. Consecutive rows usually have the same operation, and
// there are few operations, so a map would not help.
func (g *group) op(id opID, o *Options) *opSummary {
	if g.lastOp != nil && g.lastOp.ID == id {
		return g.lastOp
	}
	for _, op := range g.Ops {
		if op.ID == id {
			g.lastOp = op
			return op
		}
	}
	g.lastOp = &opSummary{ID: id.clone()}
	g.Ops = append(g.Ops, g.lastOp)
	g.open(g.lastOp, o)
	return g.lastOp
}

func (g *group) client(run, id string, s *Summary) *groupClient {
	if c := g.lastClient; c != nil && c.Client.ID == id && c.Client.Run == run {
		return c
	}
	for _, c := range g.Clients {
		if c.Client.ID == id && c.Client.Run == run {
			g.lastClient = c
			return c
		}
	}
	c := &groupClient{Client: clientID{strings.Clone(run), strings.Clone(id)}}
	c.run = c.Client.runKey()
	if run != "" {
		s.runs[c.Client.Run] = true
	}
	g.Clients = append(g.Clients, c)
	g.lastClient = c
	return c
}

func (o *opSummary) seen(start, end int64) {
	if o.Requests == 0 {
		o.First, o.Last, o.LastStart = start, end, start
	}
	o.Requests++
	o.First, o.Last, o.LastStart = min(o.First, start), max(o.Last, end), max(o.LastStart, start)
}

// count counts a request in the window, as warm-up, as late, or in flight.
func (s *Summary) count(g *group, op *opSummary, c *groupClient, r *oplog.Record, start, end int64) {
	if !op.Enough {
		part := op.part(c.run, &s.options)
		part.thread(c.Client).add(r.Thread)
		part.add(c, r, start, end, true, s.options.Verbose)
	}
	in := op.In
	if g.Kind == preparation || g.Kind == statement || in == nil && g.window.End == 0 {
		if g.Kind == measured {
			op.WarmUp.add(r)
		}
		return
	}
	if in == nil {
		op.WarmUp.add(r)
		return
	}
	place := r.Place(in.From, in.To)
	switch place {
	case oplog.BeforeWindow:
		op.WarmUp.add(r)
		if end > in.From {
			op.InFlight.add(waited(r))
		}
	case oplog.AfterWindow:
		op.Late.add(r)
	}
	inside := place == oplog.InWindow
	in.add(c, r, start, end, inside, inside && s.options.Verbose)
}

// took keeps the longest duration. It comes before the request is counted.
func (o *outside) took(d time.Duration, start int64) {
	if o.Requests == 0 || d > o.Longest || d == o.Longest && start < o.LongestStart {
		o.Longest, o.LongestStart = d, start
	}
}

func (o *outside) add(r *oplog.Record) {
	o.took(waited(r), r.Counted())
	o.Requests++
	if r.Err != "" {
		o.Errors++
		o.Kinds.add(r)
	}
}

// response returns the time from the due time of the request to its end.
func response(r *oplog.Record, end int64) time.Duration {
	return time.Duration(exact.Distance(r.Due, end))
}

// waited returns how long a user waited for the answer to a request: since it was due in an open loop, and since its start
// in a closed one.
func waited(r *oplog.Record) time.Duration {
	start, end := r.Span()
	if r.Due != 0 {
		return response(r, end)
	}
	return time.Duration(end - start)
}

// started counts a successful request in the window. Once there are enough, it
// drops the counts kept in case there were not.
func (o *opSummary) started(r *oplog.Record) {
	if r.Err != "" || o.In == nil || r.Place(o.In.From, o.In.To) != oplog.InWindow {
		return
	}
	if o.Inside++; o.Inside == fewRequests {
		o.enough()
	}
}

// enough drops the counts by run.
func (o *opSummary) enough() {
	for _, p := range o.Whole.Vals {
		o.Totals.merge(&p.Totals)
	}
	o.Enough, o.Whole = true, keyed[string, runPart]{}
}

// codeDrainTimeout is the code of a request without a response at the end of
// the drain.
const codeDrainTimeout = "DrainTimeout"

// add counts a request. Its bytes and objects count by their share of time in
// the window, everything else if it started in the window.
func (p *windowStats) add(c *groupClient, r *oplog.Record, start, end int64, started, verbose bool) {
	h := p.host(r.Endpoint)
	t := p.client(c.Client)
	if started {
		p.seen(start, end)
		p.sections.add(c.Client, r, start, end)
		h.Requests++
		t.Requests++
		if r.Due != 0 {
			h.Due++
		}
	}
	if r.Err != "" {
		p.failSlices(r, start, end, started)
		if started {
			h.Errors++
			t.Errors++
			h.Kinds.add(r)
			h.Series.Fail(r.Counted())
			p.failed().FailAs(r.Counted(), r.Code())
		}
		return
	}
	a := stats.NewAmount(start, end, r.Bytes, int64(r.Objects))
	if h.Series.Overlaps(start, end) {
		h.Series.Add(&a)
		bytes, objects := a.Between(p.From, p.To)
		t.Bytes, t.Objects = exact.AddUint(t.Bytes, bytes), exact.AddUint(t.Objects, objects)
	}
	if len(p.Slices) > 0 {
		p.slice(r, &a, started)
	}
	if !started {
		return
	}
	p.times(h).Time(r.Counted(), r.Duration, r.ClientTime)
	h.succeed(r, end)
	addTimes(r, &t.Latency, &t.TTFB, &t.Wire)
	if verbose {
		p.class(classOf(a.Bytes)).add(r, a.Bytes)
	}
}

// addTimes counts the times of a successful request. wire gets the part of the latency that was not the client's, if
// that is known.
func addTimes(r *oplog.Record, latency, ttfb, wire *stats.Histogram) {
	latency.Add(r.Duration)
	if first, seen := r.TTFB(); seen {
		ttfb.Add(first)
	}
	if r.ClientTime > 0 {
		wire.Add(r.Duration - r.ClientTime)
	}
}

// succeed counts the times of a successful request.
func (h *hostSummary) succeed(r *oplog.Record, end int64) {
	addTimes(r, &h.Latency, &h.TTFB, &h.Wire)
	if r.ClientTime > 0 {
		h.ClientTime.Add(r.ClientTime)
	}
	if r.Phases != nil {
		h.exchanges(r.Phases)
	}
	if r.Due != 0 {
		h.Response.Add(response(r, end))
		h.Lag.Add(r.Lag())
	}
}

func (p *windowStats) host(endpoint string) *hostSummary {
	if h := p.Hosts.get(endpoint); h != nil {
		return h
	}
	h := p.Hosts.put(strings.Clone(endpoint), p.newHost())
	p.mergeHosts()
	return h
}

// maxTimedHosts is up to how many hosts request times are kept by segment and
// host. With more hosts they are kept for all together.
const maxTimedHosts = 16

// times returns the series for the request times of a host.
func (p *windowStats) times(h *hostSummary) *stats.Series {
	if p.AllHosts != nil {
		return p.AllHosts
	}
	return &h.Series
}

// failed returns the series of failed requests by code.
func (p *windowStats) failed() *stats.Series {
	if p.Failed == nil {
		p.Failed = new(p.newSeries())
	}
	return p.Failed
}

// mergeHosts merges the times of all hosts if there are too many.
func (p *windowStats) mergeHosts() {
	if len(p.Hosts.Keys) > maxTimedHosts || p.AllHosts != nil {
		p.joinTimes()
	}
}

// joinTimes merges the times of all hosts.
func (p *windowStats) joinTimes() {
	if p.AllHosts == nil {
		p.AllHosts = new(p.newSeries())
	}
	for _, h := range p.Hosts.Vals {
		p.AllHosts.TakeTimes(&h.Series)
	}
}

func (p *windowStats) newHost() *hostSummary { return &hostSummary{Series: p.newSeries()} }

func (p *windowStats) newSeries() stats.Series {
	if p.From == math.MinInt64 {
		return stats.NewWholeSeries(p.Asked)
	}
	return stats.NewSeries(p.From, p.From, p.To, p.Asked)
}

func (p *windowStats) client(c clientID) *counters {
	if t := p.Clients.get(c); t != nil {
		return t
	}
	return p.Clients.put(c, &counters{})
}

func (p *windowStats) class(i int) *sizeClass {
	if p.Classes[i] == nil {
		p.Classes[i] = &sizeClass{}
	}
	return p.Classes[i]
}

// Close records how the run ended; no rows follow.
func (s *Summary) Close(t oplog.Trailer) {
	s.trailer = &t
	if t.Window != nil && s.windows.starts == nil && s.windows.ops == nil {
		_ = s.SetWindow(*t.Window)
	}
}
