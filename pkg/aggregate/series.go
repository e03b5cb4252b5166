package aggregate

import (
	"math"
	"math/bits"
	"time"
)

// objectUnit is the fixed-point unit in which shares of objects are counted.
// 2^20 leaves room for 17 billion objects times a thousand.
const objectUnit = 1 << 20

// A segment counts what happened in one piece of a window. All but errors
// are about successful requests.
type segment struct {
	Bytes, Objects uint64 // by share of time; objects in objectUnit
	Full, Partial  uint64 // requests wholly inside, and those that cross a border
	Started, Ended uint64
	Errors         uint64 // failed requests that started here
}

func (g *segment) merge(o *segment) {
	g.Bytes = sum64(g.Bytes, o.Bytes)
	g.Objects = sum64(g.Objects, o.Objects)
	g.Full += o.Full
	g.Partial += o.Partial
	g.Started += o.Started
	g.Ended += o.Ended
	g.Errors += o.Errors
}

// A series cuts time into segments, from Origin on in both directions. A
// request that crosses a border is split in proportion to time, in whole
// numbers that add up exactly. A request that took no time belongs to the
// segment that begins with it, or to the last one if it is at the end.
//
// Segments have the asked length, or grow so that there are at most 400. Which
// length they end up with follows from the times alone, not from their order.
type series struct {
	Origin   int64
	From, To int64 // what lies outside does not count
	Dur      int64
	Segs     map[int64]*segment // by number, which may be negative
	Lo, Hi   int64              // the lowest and the highest number; only where there are segments
	Coarser  []coarse           // nil where the length was asked for
	TooMany  bool               // more than maxSegments

	cur          *segment // the one found last
	curLo, curHi int64
}

// coarse remembers what sums of finer segments cannot tell about longer ones:
// requests that cross a border of finer segments. Full holds those that fit
// into this length but into no shorter one, Partial those that do not fit.
type coarse struct {
	Dur           int64
	Full, Partial map[int64]uint64
}

// newSeries begins a series of the time between from and to.
func newSeries(origin, from, to int64, asked time.Duration) series {
	t := series{Origin: origin, From: from, To: to, Dur: int64(asked), Segs: map[int64]*segment{}}
	if asked <= 0 {
		t.Dur = int64(ladder[0])
		for _, d := range ladder[1:] {
			t.Coarser = append(t.Coarser, coarse{int64(d), map[int64]uint64{}, map[int64]uint64{}})
		}
	}
	return t
}

// newWholeSeries begins a series of all time. Its segments begin at multiples
// of their length since 1970, whenever the first request is.
func newWholeSeries(asked time.Duration) series {
	return newSeries(0, math.MinInt64, math.MaxInt64, asked)
}

// number is which segment of the given length an instant is in.
func (t *series) number(at, dur int64) int64 {
	if at >= t.Origin {
		return int64((uint64(at) - uint64(t.Origin)) / uint64(dur))
	}
	return -1 - int64((uint64(t.Origin)-uint64(at)-1)/uint64(dur))
}

// at is where segment i begins, held within the range of int64.
func (t *series) at(i int64) int64 {
	far, length := bits.Mul64(uint64(max(i, -i)), uint64(t.Dur))
	switch {
	case i >= 0 && (far > 0 || length > uint64(math.MaxInt64)-uint64(t.Origin)):
		return math.MaxInt64
	case i >= 0:
		return int64(uint64(t.Origin) + length)
	case far > 0 || length > uint64(t.Origin)-(1<<63):
		return math.MinInt64
	}
	return int64(uint64(t.Origin) - length)
}

// bounds are begin and end of segment i.
func (t *series) bounds(i int64) (from, to int64) {
	return max(t.at(i), t.From), min(t.at(i+1), t.To)
}

// seek makes the segment that instant at belongs to the current one. It
// returns nil where there are too many.
func (t *series) seek(at int64) *segment {
	if t.cur != nil && at >= t.curLo && at < t.curHi {
		return t.cur
	}
	i := t.number(at, t.Dur)
	for !t.include(i) {
		if t.Coarser == nil {
			t.TooMany = true
			return nil
		}
		t.coarsen()
		i = t.number(at, t.Dur)
	}
	t.cur = t.Segs[i]
	if t.cur == nil {
		t.cur = new(segment)
		t.Segs[i] = t.cur
	}
	t.curLo, t.curHi = t.bounds(i)
	return t.cur
}

// include widens the range of numbers; false where that is too wide.
func (t *series) include(i int64) bool {
	lo, hi := i, i
	if len(t.Segs) > 0 {
		lo, hi = min(lo, t.Lo), max(hi, t.Hi)
	}
	most := int64(maxSegments)
	if t.Coarser != nil {
		most = defaultSegments
	}
	if distance(lo, hi) >= most {
		return false
	}
	t.Lo, t.Hi = lo, hi
	return true
}

// overlaps tells whether any part of the time from start to end counts.
func (t *series) overlaps(start, end int64) bool {
	if start == end {
		return start >= t.From && start <= t.To
	}
	return start < t.To && end > t.From
}

// add counts a successful request that overlaps.
func (t *series) add(start, end int64, bytes, objects uint64) {
	if t.cur != nil && start >= t.curLo && start < t.curHi && end <= t.curHi {
		g := t.cur
		g.Bytes = sum64(g.Bytes, bytes)
		g.Objects = sum64(g.Objects, objects)
		g.Full++
		g.Started++
		g.Ended++
		return
	}
	t.split(start, end, bytes, objects)
}

// split counts a request that may cross a border.
func (t *series) split(start, end int64, bytes, objects uint64) {
	from, to, whole := max(start, t.From), min(end, t.To), distance(start, end)
	last := from
	switch {
	case to > from:
		last = to - 1
	case start == t.To && start > t.From: // it took no time, at the end of the window
		from, last = start-1, start-1
	}
	// Both ends first: joining segments changes the numbers.
	if t.seek(from) == nil || t.seek(last) == nil {
		return
	}
	first, final := t.number(from, t.Dur), t.number(last, t.Dur)
	cut := start < t.From || end > t.To
	t.note(from, last, cut)
	var b, o uint64
	if whole > 0 {
		b, o = share(bytes, distance(start, from), whole), share(objects, distance(start, from), whole)
	}
	for i := first; i <= final; i++ {
		g := t.seek(max(from, t.begin(i)))
		part := distance(start, min(t.curHi, to))
		nextB, nextO := share(bytes, part, whole), share(objects, part, whole)
		g.Bytes = sum64(g.Bytes, nextB-b)
		g.Objects = sum64(g.Objects, nextO-o)
		b, o = nextB, nextO
		if first == final && !cut {
			g.Full++
		} else {
			g.Partial++
		}
		if i == first && start >= t.From {
			g.Started++
		}
		if i == final && end <= t.To {
			g.Ended++
		}
	}
}

// begin is where segment i begins.
func (t *series) begin(i int64) int64 {
	from, _ := t.bounds(i)
	return from
}

// note remembers for longer segments a request that does not fit into one of
// these. One that is cut by the window fits into none.
func (t *series) note(from, last int64, cut bool) {
	if t.Coarser == nil || !cut && t.number(from, t.Dur) == t.number(last, t.Dur) {
		return
	}
	for l := range t.Coarser {
		c := &t.Coarser[l]
		i, j := t.number(from, c.Dur), t.number(last, c.Dur)
		if i == j && !cut {
			c.Full[i]++
			return
		}
		for ; i <= j; i++ {
			c.Partial[i]++
		}
	}
}

// coarsen joins segments into those of the next length.
func (t *series) coarsen() {
	c := t.Coarser[0]
	factor := c.Dur / t.Dur
	joined := make(map[int64]*segment, len(t.Segs)/int(factor)+1)
	for i, g := range t.Segs {
		k := floorDiv(i, factor)
		if joined[k] == nil {
			joined[k] = new(segment)
		}
		joined[k].merge(g)
	}
	for k, g := range joined {
		g.Full += c.Full[k]
		g.Partial = c.Partial[k]
	}
	t.Segs, t.Dur, t.Coarser = joined, c.Dur, t.Coarser[1:]
	t.Lo, t.Hi = floorDiv(t.Lo, factor), floorDiv(t.Hi, factor)
	if len(t.Coarser) == 0 {
		t.Coarser = nil
	}
	t.cur = nil
}

// fail counts a failed request in the segment that it started in.
func (t *series) fail(start int64) {
	if g := t.seek(min(max(start, t.From), max(t.To-1, t.From))); g != nil {
		g.Errors++
	}
}

// end cuts off what lies behind the end of the window. Nothing that was added
// before does, except requests that took no time right at the end.
func (t *series) end(at int64) {
	t.To, t.cur = at, nil
	last := t.number(at-1, t.Dur)
	for i, g := range t.Segs {
		if i > last && i > t.Lo {
			if t.Segs[last] == nil {
				t.Segs[last] = new(segment)
			}
			t.Segs[last].merge(g)
			delete(t.Segs, i)
			t.Hi = last
		}
	}
}

// fit joins segments until those of the time from first to last are few enough.
func (t *series) fit(first, last int64) {
	for t.Coarser != nil && distance(t.number(first, t.Dur), t.number(max(last-1, first), t.Dur)) >= defaultSegments {
		t.coarsen()
	}
}

// merge adds a series with the same origin. It leaves o as it is, except that
// segments may be joined.
func (t *series) merge(o *series) {
	for o.Dur > t.Dur && t.Coarser != nil {
		t.coarsen()
	}
	for t.Dur > o.Dur && o.Coarser != nil {
		o.coarsen()
	}
	t.TooMany = t.TooMany || o.TooMany
	if len(o.Segs) == 0 {
		return
	}
	for !t.includeAll(o) {
		if t.Coarser == nil {
			t.TooMany = true
			return
		}
		t.coarsen()
		o.coarsen()
	}
	for i, g := range o.Segs {
		if t.Segs[i] == nil {
			t.Segs[i] = new(segment)
		}
		t.Segs[i].merge(g)
	}
	for l := range t.Coarser {
		for i, n := range o.Coarser[l].Full {
			t.Coarser[l].Full[i] += n
		}
		for i, n := range o.Coarser[l].Partial {
			t.Coarser[l].Partial[i] += n
		}
	}
}

func (t *series) includeAll(o *series) bool {
	if len(t.Segs) == 0 {
		t.Lo, t.Hi = o.Lo, o.Hi
		return true
	}
	lo, hi := t.Lo, t.Hi
	if t.include(o.Lo) && t.include(o.Hi) {
		return true
	}
	t.Lo, t.Hi = lo, hi
	return false
}

// total is what all segments have, except Full and Partial, which count
// requests of one segment.
func (t *series) total() segment {
	var sum segment
	for _, g := range t.Segs {
		sum.merge(g)
	}
	return sum
}
