package sink

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"warp/pkg/counter"
	"warp/pkg/oplog"
)

// A total contains the figures of one operation since the start, at one endpoint or all of them.
type total struct {
	counter.Counter
	op, endpoint string // endpoint "" = all
	phases       [len(oplog.PhaseNames)]phase
	at           int64 // time of the last point, if each request has one
}

// A phase is a sum of the times that requests took in one phase of HTTP, failed ones included.
type phase struct {
	sum time.Duration
	n   int64
}

func (p *phase) add(d time.Duration) {
	if d > 0 {
		p.sum += d
		p.n++
	}
}

func (t *total) add(r *oplog.Record) {
	t.Counter.Add(r)
	if r.Phases != nil {
		for i, d := range r.Phases {
			t.phases[i].add(d)
		}
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
	t.Counter.Merge(&o.Counter)
	for i, p := range o.phases {
		t.phases[i].sum += p.sum
		t.phases[i].n += p.n
	}
}
