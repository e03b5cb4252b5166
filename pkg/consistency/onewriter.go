package consistency

import (
	"slices"
	"sort"
)

// Rules about keys with one writer.
const (
	ruleStale       = "an older version was read than the last that was acknowledged"
	ruleGone        = "the object was not found after its upload was acknowledged"
	ruleBack        = "the object was found after its deletion was acknowledged"
	ruleTurnedBack  = "a write with unknown outcome was seen and then was not"
	ruleNotListed   = "a listing lacks an object whose upload had been acknowledged"
	ruleListedStill = "a listing has an object whose deletion had been acknowledged"
	ruleForeignName = "a listing has a name that nobody wrote"
	ruleListedTwice = "a listing has a name twice"
	ruleUnsorted    = "a listing is not in order"
)

// A writer is what the only writer of a key did, one write after the other.
type writer struct {
	writes  []*Operation // without those that certainly had no effect
	acked   []int        // indexes of those that were acknowledged
	byToken map[string]int
}

// newWriter takes the operations on a key by their start.
func newWriter(ops []*Operation) *writer {
	w := &writer{byToken: map[string]int{}}
	for _, o := range ops {
		if !o.isWrite() || !o.mayTakeEffect() {
			continue
		}
		if o.acknowledged() {
			w.acked = append(w.acked, len(w.writes))
		}
		w.byToken[o.Sent] = len(w.writes)
		w.writes = append(w.writes, o)
	}
	return w
}

// lastAcked returns the index of the last write that was acknowledged before a time; -1 = there was none.
func (w *writer) lastAcked(at int64) int {
	i := sort.Search(len(w.acked), func(i int) bool { return w.writes[w.acked[i]].End >= at })
	if i == 0 {
		return -1
	}
	return w.acked[i-1]
}

// possible reports whether a read may have found an object, or none, after the writes up to the given one.
func (w *writer) possible(from int, until int64, found bool) bool {
	if from < 0 && !found {
		return true
	}
	for _, o := range w.writes[max(from, 0):] {
		if o.Start > until {
			return false
		}
		if (o.Op != Delete) == found {
			return true
		}
	}
	return false
}

// readAfterWrite judges the reads of a key with one writer.
func (j *judge) readAfterWrite(h *history) {
	w := newWriter(h.ops)
	turned := -1 // the last write with unknown outcome that was seen
	var turnedBy *Operation
	for _, r := range h.ops {
		if !r.isRead() || !r.answered() || damaged(r.Received) {
			continue
		}
		exact := w.exact(r, j)
		last := w.lastAcked(r.Start + exact)
		at, known := -1, false
		if r.Received != "" {
			if at, known = w.byToken[r.Received]; !known {
				if !j.missing(r.Received) {
					rule, ops := h.unwritten(r)
					j.violated(h.property, rule, ops)
				}
				continue
			}
		}
		switch {
		case known && w.writes[at].Start > r.End-exact:
			j.violated(h.property, ruleReadTooEarly, []*Operation{r, w.writes[at]})
		case known && at < last:
			rule := ruleStale
			if w.writes[last].Op == Delete {
				rule = ruleBack
			}
			j.violated(h.property, rule, withoutNil(w.writes[at], w.writes[last], r))
		case known && at < turned && turnedBy.End < r.Start:
			j.violated(h.property, ruleTurnedBack, withoutNil(w.writes[at], w.writes[turned], turnedBy, r))
		case !known && !w.possible(last, r.End-exact, r.Outcome == Won) && !j.anyMissing:
			rule := ruleGone
			if r.Outcome == Won {
				rule = ruleBack
			}
			j.violated(h.property, rule, w.proof(last, r))
		case known && w.writes[at].open() && at > turned:
			turned, turnedBy = at, r
		}
	}
}

// proof returns a read and the write that it contradicts.
func (w *writer) proof(last int, r *Operation) []*Operation {
	if last < 0 {
		return []*Operation{r}
	}
	return withoutNil(w.writes[last], r)
}

// listAfterWrite judges the listings of a folder. Each of its keys has one writer.
func (j *judge) listAfterWrite(h *history) {
	writers := map[uint64]*writer{}
	for n, ops := range h.byNumber() {
		writers[n] = newWriter(ops)
	}
	for _, l := range h.ops {
		if l.Op != List || l.Outcome != Won {
			continue
		}
		listing, ok := ParseListing(l.Received)
		switch {
		case !ok || len(listing.Foreign) > 0:
			j.violated(h.property, ruleForeignName, []*Operation{l})
		case listing.Twice:
			j.violated(h.property, ruleListedTwice, []*Operation{l})
		case listing.Unsorted && !j.log.Unordered:
			j.violated(h.property, ruleUnsorted, []*Operation{l})
		}
		j.listing(h, writers, l, listing)
	}
}

// listing judges the names of one listing.
func (j *judge) listing(h *history, writers map[uint64]*writer, l *Operation, listing Listing) {
	has := make(map[uint64]bool, len(listing.Numbers))
	for _, n := range listing.Numbers {
		has[n] = true
		if writers[n] == nil && len(writers) > 0 && !j.anyMissing {
			j.violated(h.property, ruleForeignName, []*Operation{l})
		}
	}
	for n, w := range writers {
		exact := w.exact(l, j)
		last, settled := w.settled(l.Start+exact, l.End-exact)
		switch {
		case !settled:
			continue
		case last.Op != Delete && !has[n]:
			j.violated(h.property, ruleNotListed, withoutNil(last, l))
		case last.Op == Delete && has[n]:
			j.violated(h.property, ruleListedStill, withoutNil(last, l))
		}
		h.property.Checks++
	}
}

// exact returns by how much a read of the writer's own client is too wide at both ends, compared to the writes: one clock
// has measured both.
func (w *writer) exact(r *Operation, j *judge) int64 {
	if len(w.writes) > 0 && w.writes[0].Client == r.Client && w.writes[0].Run == r.Run {
		return 2 * int64(j.log.ClockError)
	}
	return 0
}

// settled returns the last write before a listing, if it was acknowledged before and no other write may have taken effect.
func (w *writer) settled(start, end int64) (*Operation, bool) {
	n := sort.Search(len(w.writes), func(i int) bool { return w.writes[i].Start > end })
	if n == 0 {
		return nil, false
	}
	last := w.writes[n-1]
	if !last.acknowledged() || last.End >= start {
		return nil, false
	}
	return last, len(w.acked) == len(w.writes) || !slices.ContainsFunc(w.writes[:n], func(o *Operation) bool { return !o.acknowledged() })
}
