package aggregate

import (
	"math"
	"strings"

	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// totals counts all requests of an operation, inside the window or not.
type totals struct {
	Sizes     sizes // of successful requests
	Hosts     keyed[string, hostTotals]
	Objects   map[string]access // only in verbose reports
	Sampled   bool              // Objects holds only those with hashes
	HashLimit uint64            // up to this
}

// A runPart counts all requests of an operation in one run.
type runPart struct {
	windowStats
	Totals  totals
	Threads keyed[clientID, threadSet]
}

// part returns the counts of a run, while there are too few requests in the
// window.
func (o *opSummary) part(run string, options *Options) *runPart {
	if p := o.Whole.get(run); p != nil {
		return p
	}
	return o.Whole.put(run, &runPart{windowStats: *newWindowStats(math.MinInt64, math.MaxInt64, options.SegmentDur, options.Slices)})
}

func (p *runPart) thread(c clientID) *threadSet {
	if t := p.Threads.get(c); t != nil {
		return t
	}
	return p.Threads.put(c, new(threadSet))
}

func (p *runPart) merge(o *runPart) {
	p.windowStats.merge(&o.windowStats)
	p.Totals.merge(&o.Totals)
	for i, c := range o.Threads.Keys {
		p.thread(c).merge(*o.Threads.Vals[i])
	}
}

// totals returns where the requests of the client's run are counted.
func (o *opSummary) totals(c *groupClient, options *Options) *totals {
	if o.Enough {
		return &o.Totals
	}
	return &o.part(c.run, options).Totals
}

// allTotals returns the sum of all runs.
func (o *opSummary) allTotals() *totals {
	if len(o.Whole.Vals) == 0 {
		return &o.Totals
	}
	sum := &totals{}
	sum.merge(&o.Totals)
	for _, p := range o.Whole.Vals {
		sum.merge(&p.Totals)
	}
	return sum
}

func (t *totals) merge(o *totals) {
	t.Sizes.merge(&o.Sizes)
	for i, host := range o.Hosts.Keys {
		mine := t.Hosts.get(host)
		if mine == nil {
			mine = t.Hosts.put(host, &hostTotals{unwanted: o.Hosts.Vals[i].unwanted})
		}
		mine.merge(o.Hosts.Vals[i])
	}
	t.mergeObjects(o)
}

// succeed counts a successful request.
func (t *totals) succeed(r *oplog.Record, verbose bool) {
	a := stats.NewAmount(0, 0, r.Bytes, int64(r.Objects))
	t.Sizes.add(a.Bytes, a.Objects/stats.ObjectUnit)
	if verbose && r.Key != "" {
		t.visit(r)
	}
}

// requests counts the requests to the selected hosts.
func (t *totals) requests() (n uint64) {
	for _, h := range t.Hosts.Vals {
		n += h.Requests
	}
	return n
}

func (t *totals) retries() (n uint64) {
	for _, h := range t.Hosts.Vals {
		n += h.Retries
	}
	return n
}

// phases returns all connection phases and the given exchange phases.
func (t *totals) phases(exchanges *phaseHists) *results.Phases {
	var all phaseHists
	for _, h := range t.Hosts.Vals {
		if h.Connections != nil {
			all.merge(h.Connections)
		}
	}
	if exchanges != nil {
		all.merge(exchanges)
	}
	return all.report()
}

// hostTotals counts all requests to one host, inside the window or not.
type hostTotals struct {
	Requests    uint64
	Retries     uint64
	Backwards   uint64      // requests with an end before their begin
	Connections *phaseHists // begins of connections; nil if none were recorded
	unwanted    bool        // filtered out of the report
}

func (t *totals) host(endpoint, wanted string) *hostTotals {
	if h := t.Hosts.get(endpoint); h != nil {
		return h
	}
	return t.Hosts.put(strings.Clone(endpoint), &hostTotals{unwanted: wanted != "" && !sameHost(endpoint, wanted)})
}

func (h *hostTotals) add(r *oplog.Record) {
	h.Requests++
	h.Retries += uint64(r.Retries)
	if r.Duration < 0 {
		h.Backwards++
	}
	if r.Phases != nil {
		if h.Connections == nil {
			h.Connections = new(phaseHists)
		}
		h.Connections.add(r.Phases, 0, oplog.ConnectionPhases)
	}
}

func (h *hostTotals) merge(o *hostTotals) {
	h.Requests += o.Requests
	h.Retries += o.Retries
	h.Backwards += o.Backwards
	mergePhases(&h.Connections, o.Connections)
}

// sizes holds the extremes and sums of request sizes.
type sizes struct {
	N                      uint64
	MinBytes, MaxBytes     uint64
	MinObjects, MaxObjects uint64
	Bytes, Objects         exact.Uint128
}

func (z *sizes) add(bytes, objects uint64) {
	z.merge(&sizes{1, bytes, bytes, objects, objects, exact.Uint128{Lo: bytes}, exact.Uint128{Lo: objects}})
}

func (z *sizes) merge(o *sizes) {
	if o.N == 0 {
		return
	}
	if z.N == 0 {
		*z = *o
		return
	}
	z.N += o.N
	z.MinBytes, z.MaxBytes = min(z.MinBytes, o.MinBytes), max(z.MaxBytes, o.MaxBytes)
	z.MinObjects, z.MaxObjects = min(z.MinObjects, o.MinObjects), max(z.MaxObjects, o.MaxObjects)
	z.Bytes.Add(o.Bytes.Hi, o.Bytes.Lo)
	z.Objects.Add(o.Objects.Hi, o.Objects.Lo)
}
