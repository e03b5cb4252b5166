package workload

import (
	"cmp"
	"slices"
)

// pending is how many requests are sorted at a time. In its log, a request may come up to half as many lines too late.
const pending = 1 << 17

// An order sorts requests by their starts. Logs have them in the order in which they ended, or were delivered.
type order struct {
	max      int // requests
	requests []Request
	last     int64 // start of the request that was passed on last
	passed   bool
	late     uint64 // requests that came after later ones were passed on
}

// add adds a request, and passes on requests that no other one should precede.
func (o *order) add(r *Request, pass func(*Request)) {
	if o.passed && r.Start < o.last {
		o.late++
	}
	o.requests = append(o.requests, *r)
	if len(o.requests) >= o.max {
		o.flush(o.max/2, pass)
	}
}

// flush passes on the first n requests.
func (o *order) flush(n int, pass func(*Request)) {
	slices.SortStableFunc(o.requests, func(a, b Request) int { return cmp.Compare(a.Start, b.Start) })
	for i := range o.requests[:n] {
		r := &o.requests[i]
		r.Start = max(r.Start, o.last)
		o.last, o.passed = r.Start, true
		pass(r)
	}
	o.requests = append(o.requests[:0], o.requests[n:]...)
}

// end passes on all requests that are left.
func (o *order) end(pass func(*Request)) { o.flush(len(o.requests), pass) }
