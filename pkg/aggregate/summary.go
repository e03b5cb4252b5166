package aggregate

import (
	"errors"
	"strings"

	"warp/pkg/oplog"
)

// A Summary is the second of the two passes: given the windows, it counts what
// lies in them. It holds integers only, so that neither the order of records
// nor that of merging changes a digit of the report. Its memory depends on the
// numbers of operations, hosts, clients and segments, not on that of requests
// (except with Verbose, where it grows with the number of distinct objects).
type Summary struct {
	plan    *Plan
	open    *Group // takes operations that are not in the plan; only while a run lasts
	verbose bool
	ops     []*opSummary
	last    int
}

// opSummary is one operation.
type opSummary struct {
	opID
	group   *Group
	hosts   keyed[string, hostSummary]
	clients keyed[client, tally] // only where there are several
	classes [len(classBorders)]*sizeClass
	objects map[string]access
}

// tally is what is counted for any part of an operation.
type tally struct {
	requests, errors uint64 // everything, in the window or not
	bytes, objects   uint64 // share in the window; objects in objectUnit
	latency, ttfb    Hist   // successful requests wholly inside
}

// hostSummary is what one host did. The operation as a whole is the sum of
// its hosts, so it is not counted twice.
type hostSummary struct {
	tally // without bytes and objects, which are the sum of the series
	series
	kinds         errorKinds
	sizes         sizes
	response, lag Hist
	due           uint64 // requests that a schedule wanted to begin in the window
	scheduled     uint64 // requests that had a schedule at all
	backwards     uint64 // requests that ended before they began
	retries       uint64
	phases        *phaseHists // nil where none were noted
}

// sizes is about all successful requests, in the window or not.
type sizes struct {
	n                      uint64
	minBytes, maxBytes     uint64
	minObjects, maxObjects uint64
	bytes, objects         uint128
}

func (z *sizes) add(bytes, objects uint64) {
	if z.n == 0 {
		z.minBytes, z.minObjects = bytes, objects
	}
	z.n++
	z.minBytes, z.maxBytes = min(z.minBytes, bytes), max(z.maxBytes, bytes)
	z.minObjects, z.maxObjects = min(z.minObjects, objects), max(z.maxObjects, objects)
	z.bytes.add(0, bytes)
	z.objects.add(0, objects)
}

func (z *sizes) merge(o *sizes) {
	if o.n == 0 {
		return
	}
	if z.n == 0 {
		*z = *o
		return
	}
	z.n += o.n
	z.minBytes, z.maxBytes = min(z.minBytes, o.minBytes), max(z.maxBytes, o.maxBytes)
	z.minObjects, z.maxObjects = min(z.minObjects, o.minObjects), max(z.maxObjects, o.maxObjects)
	z.bytes.add(o.bytes.hi, o.bytes.lo)
	z.objects.add(o.objects.hi, o.objects.lo)
}

// keyed is a small table that remembers what was asked for last.
type keyed[K comparable, V any] struct {
	keys  []K
	vals  []*V
	index map[K]int
	last  int
}

// get returns nil where there is no such key.
func (k *keyed[K, V]) get(key K) *V {
	if k.last < len(k.keys) && k.keys[k.last] == key {
		return k.vals[k.last]
	}
	i, ok := k.index[key]
	if !ok {
		return nil
	}
	k.last = i
	return k.vals[i]
}

func (k *keyed[K, V]) put(key K, val *V) *V {
	if k.index == nil {
		k.index = map[K]int{}
	}
	k.last = len(k.keys)
	k.index[key] = k.last
	k.keys, k.vals = append(k.keys, key), append(k.vals, val)
	return val
}

// NewSummary begins a second pass over the windows of p.
func NewSummary(p *Plan, o Options) *Summary {
	s := &Summary{plan: p, verbose: o.Verbose}
	for i := range p.Groups {
		g := &p.Groups[i]
		for _, op := range g.Ops {
			s.ops = append(s.ops, &opSummary{opID: op.id(), group: g})
		}
	}
	return s
}

// newOpenSummary begins a summary of a group whose window has no end yet.
func newOpenSummary(g *Group, o Options) *Summary {
	s := NewSummary(&Plan{}, o)
	s.open = g
	return s
}

// Add counts one request. Operations that the plan does not know are ignored.
func (s *Summary) Add(r *oplog.Record) {
	op := s.op(idOf(r))
	if op == nil {
		return
	}
	start, end := span(r)
	h := op.host(r.Endpoint)
	h.requests++
	h.retries += uint64(r.Retries)
	if r.Phases != nil {
		h.connections(r.Phases)
	}
	if r.Duration < 0 {
		h.backwards++
	}
	if r.Due != 0 {
		h.scheduled++
		if r.Due >= h.start && r.Due < h.end {
			h.due++
		}
	}
	c := op.client(r)
	if c != nil {
		c.requests++
	}
	if r.Err != "" {
		h.errors++
		h.kinds.add(r)
		if op.group.Basis != NoWindow {
			h.series.fail(start, end)
		}
		if c != nil {
			c.errors++
		}
		return
	}
	op.succeed(h, c, r, start, end, s.verbose)
}

func (s *Summary) op(id opID) *opSummary {
	if s.last < len(s.ops) && s.ops[s.last].opID == id {
		return s.ops[s.last]
	}
	for i, op := range s.ops {
		if op.opID == id {
			s.last = i
			return op
		}
	}
	if s.open == nil {
		return nil
	}
	op := &opSummary{opID: id.clone(), group: s.open}
	s.ops = append(s.ops, op)
	return op
}

func (o *opSummary) host(endpoint string) *hostSummary {
	if h := o.hosts.get(endpoint); h != nil {
		return h
	}
	return o.hosts.put(strings.Clone(endpoint), o.newHost())
}

func (o *opSummary) newHost() *hostSummary {
	if o.group.open {
		return &hostSummary{series: newOpenSeries(o.group.Start, int64(o.group.Segment))}
	}
	return &hostSummary{series: newSeries(o.group)}
}

// client is nil where the group has only one: its figures are those of the
// operation.
func (o *opSummary) client(r *oplog.Record) *tally {
	if o.group.Clients <= 1 {
		return nil
	}
	key := client{r.Run, r.Client}
	if t := o.clients.get(key); t != nil {
		return t
	}
	return o.clients.put(client{strings.Clone(r.Run), strings.Clone(r.Client)}, &tally{})
}

// succeed counts a request that did not fail.
func (o *opSummary) succeed(h *hostSummary, c *tally, r *oplog.Record, start, end int64, verbose bool) {
	bytes, objects := uint64(max(r.Bytes, 0)), uint64(min(max(r.Objects, 0), 1<<40))
	h.sizes.add(bytes, objects)
	objects *= objectUnit
	if o.group.Basis == NoWindow || !h.inWindow(start, end) {
		return
	}
	h.series.add(start, end, bytes, objects)
	inside := start >= h.start && end <= h.end
	if c != nil {
		c.bytes = sum64(c.bytes, h.windowShare(start, end, bytes))
		c.objects = sum64(c.objects, h.windowShare(start, end, objects))
	}
	if !inside {
		return
	}
	first, seen := r.TTFB()
	h.latency.Add(r.Duration)
	if r.Phases != nil {
		h.exchanges(r.Phases)
	}
	if seen {
		h.ttfb.Add(first)
	}
	if r.Due != 0 {
		h.response.Add(response(r, end))
		h.lag.Add(r.Lag())
	}
	if c != nil {
		c.latency.Add(r.Duration)
		if seen {
			c.ttfb.Add(first)
		}
	}
	if verbose {
		o.detail(r, bytes)
	}
}

// windowShare is the part of amount that lies in the window.
func (t *series) windowShare(start, end int64, amount uint64) uint64 {
	if start >= t.start && end <= t.end {
		return amount
	}
	whole := distance(start, end)
	return share(amount, distance(start, min(end, t.end)), whole) -
		share(amount, distance(start, max(start, t.start)), whole)
}

// Merge adds what o counted; o stays as it is. Both must have the same plan.
func (s *Summary) Merge(o *Summary) error {
	if len(s.ops) != len(o.ops) {
		return errors.New("cannot merge summaries of different operations: survey all parts first and merge the surveys")
	}
	for i, op := range o.ops {
		mine := s.ops[i]
		if mine.opID != op.opID || mine.group.Start != op.group.Start ||
			mine.group.End != op.group.End || mine.group.Segment != op.group.Segment {
			return errors.New("cannot merge summaries of different windows: survey all parts first and merge the surveys")
		}
	}
	for i, op := range o.ops {
		s.ops[i].merge(op)
	}
	return nil
}

func (o *opSummary) merge(other *opSummary) {
	for i, name := range other.hosts.keys {
		o.host(name).merge(other.hosts.vals[i])
	}
	for i, key := range other.clients.keys {
		mine := o.clients.get(key)
		if mine == nil {
			mine = o.clients.put(key, &tally{})
		}
		mine.merge(other.clients.vals[i])
	}
	for i, c := range other.classes {
		if c != nil {
			o.class(i).merge(c)
		}
	}
	for key, a := range other.objects {
		o.access(key, a)
	}
}

func (t *tally) merge(o *tally) {
	t.requests += o.requests
	t.errors += o.errors
	t.bytes = sum64(t.bytes, o.bytes)
	t.objects = sum64(t.objects, o.objects)
	t.latency.Merge(&o.latency)
	t.ttfb.Merge(&o.ttfb)
}

func (h *hostSummary) merge(o *hostSummary) {
	h.tally.merge(&o.tally)
	h.series.merge(&o.series)
	h.kinds.mergeAll(&o.kinds)
	h.sizes.merge(&o.sizes)
	h.response.Merge(&o.response)
	h.lag.Merge(&o.lag)
	h.due += o.due
	h.scheduled += o.scheduled
	h.backwards += o.backwards
	h.retries += o.retries
	if o.phases != nil {
		h.traced().merge(o.phases)
	}
}

// whole is the operation on all hosts.
func (o *opSummary) whole() *hostSummary {
	sum := o.newHost()
	for _, h := range o.hosts.vals {
		sum.merge(h)
	}
	return sum
}
