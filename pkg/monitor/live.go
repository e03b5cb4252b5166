package monitor

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/internal/exact"
	"warp/pkg/counter"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

const (
	slotLength = int64(100 * time.Millisecond)
	slotsKept  = 64 // keeps 6.4 s
	// arrivalDelay is the max age of a request when it arrives here, because they are collected
	// every 100 ms. A current rate must not include incomplete slots.
	arrivalDelay = int64(300 * time.Millisecond)
)

// Live keeps the figures that a terminal shows during a run, in constant memory. One goroutine
// writes while another takes snapshots. Totals and percentiles cover everything since the start,
// not the window, which is known only at the end. The zero value is ready for use.
type Live struct {
	mu    sync.Mutex
	ops   []*opCounts
	hosts map[string]*Part
}

type opCounts struct {
	counter.Counter
	name    string
	first   int64 // start of the first request
	latency stats.Histogram
	slots   [slotsKept]slotCounts
}

// slotCounts counts the successful requests that ended within 100 ms.
type slotCounts struct {
	counter.Counter
	slot int64 // number of the 100 ms since 1970
}

// A Snapshot is the state of a run at one moment.
type Snapshot struct {
	At  int64 // unix ns
	Ops []Op  // sorted by name

	Hosts   []Part // sorted by name
	Clients []Part // of a fleet, in its order
}

// A Part contains the figures of one host, or of one client of a fleet, since the start.
type Part struct {
	Name string
	counter.Counter
}

// Op is one operation at one moment. Rates count successful requests.
type Op struct {
	counter.Counter
	Op       string
	Elapsed  time.Duration  // since the first request began
	P50, P99 time.Duration  // since the start
	Latency  *results.Stats // all figures; nil if no request succeeded
	Current  Rate           // over the last second, or up to five if requests take that long
	Average  Rate           // since the first request began
}

// A Rate is throughput per second.
type Rate struct{ Requests, Bytes, Objects float64 }

// Write adds rows in any order; it never fails.
func (l *Live) Write(batch []oplog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range batch {
		l.add(&batch[i])
	}
	return nil
}

// Flush does nothing: Live keeps its figures in memory.
func (l *Live) Flush() error { return nil }

// SetWindow resets the figures when the measured part starts, since the preparation has its own
// live figures.
func (l *Live) SetWindow(w oplog.Window) error {
	if w.Begin == 0 && w.End == 0 {
		l.reset()
	}
	return nil
}

// reset clears all figures, for the next part of a run.
func (l *Live) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops, l.hosts = nil, nil
}

func (l *Live) op(name string, start int64) *opCounts {
	for _, op := range l.ops {
		if op.name == name {
			return op
		}
	}
	op := &opCounts{name: strings.Clone(name), first: start}
	l.ops = append(l.ops, op)
	slices.SortFunc(l.ops, func(a, b *opCounts) int { return strings.Compare(a.name, b.name) })
	return op
}

func (l *Live) host(name string) *Part {
	h := l.hosts[name]
	if h == nil {
		if l.hosts == nil {
			l.hosts = make(map[string]*Part)
		}
		h = &Part{Name: strings.Clone(name)}
		l.hosts[h.Name] = h
	}
	return h
}

// hostList lists the hosts by name.
func (l *Live) hostList() []*Part {
	return slices.SortedFunc(maps.Values(l.hosts), func(a, b *Part) int { return strings.Compare(a.Name, b.Name) })
}

func (l *Live) add(r *oplog.Record) {
	start, end := r.Span()
	op := l.op(r.Op, start)
	op.first = min(op.first, start)
	op.Counter.Add(r)
	l.host(r.Endpoint).Counter.Add(r)
	if r.Err != "" {
		return
	}
	op.latency.Add(r.Duration)
	// A request counts in the slot in which it ended. Spreading it over its duration would omit the
	// requests in flight, and show too little until they end.
	slot := exact.FloorDiv(end, slotLength)
	c := &op.slots[slotIndex(slot)]
	switch {
	case slot < c.slot && c.Requests > 0:
		return // too old to matter
	case slot != c.slot:
		*c = slotCounts{slot: slot}
	}
	c.Counter.Add(r)
}

// slotIndex returns the index of a slot in the ring of slots.
func slotIndex(slot int64) int64 { return (slot%slotsKept + slotsKept) % slotsKept }

// Snapshot returns the figures at the given time in unix ns.
func (l *Live) Snapshot(now int64) Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Snapshot{At: now, Ops: make([]Op, 0, len(l.ops))}
	for _, op := range l.ops {
		elapsed := exact.Distance(op.first, now)
		o := Op{
			Counter: op.Counter, Op: op.name,
			Elapsed: time.Duration(elapsed), P50: op.latency.Quantile(.5), P99: op.latency.Quantile(.99), Latency: results.StatsOf(&op.latency),
			Current: op.current(now),
		}
		if elapsed > 0 {
			o.Average = rateOf(&op.Counter, float64(elapsed)/1e9)
		}
		s.Ops = append(s.Ops, o)
	}
	for _, h := range l.hostList() {
		s.Hosts = append(s.Hosts, *h)
	}
	return s
}

// current returns the rate over the last complete second. Requests that take longer end in bursts,
// so the time grows with their duration.
func (o *opCounts) current(now int64) Rate {
	last := exact.FloorDiv(now-arrivalDelay, slotLength) // exclusive
	recent := o.sum(last-50, last)
	n := int64(10)
	if recent.Requests > 0 {
		n = min(max(n, 2*int64(recent.Time.Mean())/slotLength), 50)
	}
	n = min(n, last-exact.FloorDiv(o.first, slotLength))
	if n <= 0 {
		return Rate{}
	}
	c := o.sum(last-n, last)
	return rateOf(&c, float64(n*slotLength)/1e9)
}

// rateOf returns the throughput of the successful requests of c.
func rateOf(c *counter.Counter, seconds float64) Rate {
	return Rate{float64(c.Requests-c.Errors) / seconds, float64(c.Bytes) / seconds, float64(c.Objects) / seconds}
}

func (o *opCounts) sum(from, to int64) (sum counter.Counter) {
	for i := range o.slots {
		if c := &o.slots[i]; c.slot >= from && c.slot < to {
			sum.Merge(&c.Counter)
		}
	}
	return sum
}
