package sink

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"warp/pkg/oplog"
)

// A total contains the figures of one operation since the start, at one endpoint or all of them.
// Failed requests count only as requests and as errors.
type total struct {
	op, endpoint      string // endpoint "" = all
	requests, errors  int64
	objects, bytes    int64
	answered, started int64 // requests with a time, and with a time to the first byte
	time, ttfb        span
	phases            [len(oplog.PhaseNames)]phase
	at                int64 // time of the last point, if each request has one
}

// A phase is a sum of the times that requests took in one phase of HTTP.
type phase struct {
	sum time.Duration
	n   int64
}

// A span is a sum of times and their extremes.
type span struct{ sum, min, max time.Duration }

func (s *span) add(d time.Duration, first bool) {
	s.sum += d
	s.max = max(s.max, d)
	if first || d < s.min {
		s.min = d
	}
}

func (p *phase) add(d time.Duration) {
	if d > 0 {
		p.sum += d
		p.n++
	}
}

func (t *total) add(r *oplog.Record) {
	t.requests++
	if r.Phases != nil {
		for i, d := range r.Phases {
			t.phases[i].add(d)
		}
	}
	if r.Err != "" {
		t.errors++
		return
	}
	t.objects += int64(r.Objects)
	t.bytes += r.Bytes
	t.time.add(r.Duration, t.answered == 0)
	t.answered++
	if d, seen := r.TTFB(); seen {
		t.ttfb.add(d, t.started == 0)
		t.started++
	}
}

// A place is the key of a total. It is looked up in a map, because with many endpoints consecutive
// rows rarely have the same one.
type place struct{ op, endpoint string }

// totals has one total per operation and endpoint.
type totals struct {
	list []*total
	at   map[place]*total
	last *total // consecutive rows are often of one kind
}

func (ts *totals) of(op, endpoint string) *total {
	if t := ts.last; t != nil && t.op == op && t.endpoint == endpoint {
		return t
	}
	if t := ts.at[place{op, endpoint}]; t != nil {
		ts.last = t
		return t
	}
	// The strings of a record may be parts of larger ones, which must not be kept.
	t := &total{op: strings.Clone(op), endpoint: strings.Clone(endpoint)}
	if ts.at == nil {
		ts.at = make(map[place]*total)
	}
	ts.at[place{t.op, t.endpoint}] = t
	ts.list = append(ts.list, t)
	slices.SortFunc(ts.list, func(a, b *total) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.endpoint, b.endpoint))
	})
	ts.last = t
	return t
}

// overall returns the sum over the endpoints of each operation.
func (ts *totals) overall() []*total {
	var all totals
	for _, t := range ts.list {
		all.of(t.op, "").merge(t)
	}
	return all.list
}

func (t *total) merge(o *total) {
	t.time.merge(o.time, t.answered == 0, o.answered == 0)
	t.ttfb.merge(o.ttfb, t.started == 0, o.started == 0)
	t.requests += o.requests
	t.errors += o.errors
	t.objects += o.objects
	t.bytes += o.bytes
	t.answered += o.answered
	t.started += o.started
	for i, p := range o.phases {
		t.phases[i].sum += p.sum
		t.phases[i].n += p.n
	}
}

// merge ignores an empty side, whose extremes are not times.
func (s *span) merge(o span, empty, otherEmpty bool) {
	switch {
	case otherEmpty:
	case empty:
		*s = o
	default:
		*s = span{sum: s.sum + o.sum, min: min(s.min, o.min), max: max(s.max, o.max)}
	}
}

// mean returns the mean in seconds, or 0 if n is 0.
func (s *span) mean(n int64) float64 {
	if n == 0 {
		return 0
	}
	return s.sum.Seconds() / float64(n)
}
