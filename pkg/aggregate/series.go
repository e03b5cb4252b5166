package aggregate

import "math"

// objectUnit is the fixed-point unit in which shares of objects are counted.
// 2^20 leaves room for 17 billion objects times a thousand.
const objectUnit = 1 << 20

// A segment counts what happened in one piece of the window. All but errors
// are about successful requests.
type segment struct {
	bytes, objects uint64 // by share of time; objects in objectUnit
	full, partial  uint64 // requests wholly inside, and those that cross a border
	started, ended uint64
	errors         uint64 // failed requests that ended here
}

func (g *segment) merge(o *segment) {
	g.bytes = sum64(g.bytes, o.bytes)
	g.objects = sum64(g.objects, o.objects)
	g.full += o.full
	g.partial += o.partial
	g.started += o.started
	g.ended += o.ended
	g.errors += o.errors
}

// A series cuts a window into segments. A request that crosses a border is
// split in proportion to time, in whole numbers that add up exactly. A request
// that took no time belongs to the segment that begins with it, or to the last
// one if it sits on the end of the window.
type series struct {
	start, end int64 // the window
	open       bool  // end is only the end of time, until finish
	dur        int64
	segs       []segment // grown as needed, at most limit()

	cur          int // the segment found last,
	curLo, curHi int64

	coarser []coarse // only where the end is not known in advance
}

// coarse remembers what sums of finer segments cannot tell about longer ones:
// requests that cross a border of finer segments. full holds those that fit
// into this length but into no shorter one, partial those that do not fit.
type coarse struct {
	dur           int64
	full, partial []uint64
}

func newSeries(g *Group) series {
	t := series{start: g.Start, end: g.End, dur: max(int64(g.Segment), 1)}
	t.locate(0)
	return t
}

// newOpenSeries begins a series whose end is not known yet; see finish. Its
// segments grow with the ladder unless a duration is given.
func newOpenSeries(start, dur int64) series {
	t := series{start: start, end: math.MaxInt64, open: true, dur: dur}
	if dur == 0 {
		t.dur = int64(ladder[0])
		for _, d := range ladder[1:] {
			t.coarser = append(t.coarser, coarse{dur: int64(d)})
		}
	}
	t.locate(0)
	return t
}

// limit is the number of segments in the window.
func (t *series) limit() int {
	if t.open {
		return maxSegments
	}
	n := distance(t.start, t.end)
	return max(int((n-1)/t.dur)+1, 1)
}

func (t *series) locate(i int) {
	t.cur = i
	t.curLo, t.curHi = t.bounds(i)
}

// bounds are begin and end of segment i.
func (t *series) bounds(i int) (from, to int64) {
	at := func(i int64) int64 {
		if i > math.MaxInt64/t.dur {
			return t.end
		}
		return min(addSat(t.start, i*t.dur), t.end)
	}
	return at(int64(i)), at(int64(i) + 1)
}

// seek makes the segment that instant at belongs to the current one.
func (t *series) seek(at int64) *segment {
	if at < t.curLo || at >= t.curHi {
		t.locate(min(int(distance(t.start, at)/t.dur), t.limit()-1))
		for t.coarser != nil && t.cur >= defaultSegments {
			t.coarsen()
			t.locate(int(distance(t.start, at) / t.dur))
		}
	}
	return t.current()
}

func (t *series) current() *segment {
	for len(t.segs) <= t.cur {
		t.segs = append(t.segs, segment{})
	}
	return &t.segs[t.cur]
}

// inWindow tells whether any part of the time from start to end is inside.
func (t *series) inWindow(start, end int64) bool {
	if start == end {
		return start >= t.start && start <= t.end
	}
	return start < t.end && end > t.start
}

// add counts a successful request that is at least partly in the window.
func (t *series) add(start, end int64, bytes, objects uint64) {
	if start >= t.start {
		g := t.seek(start)
		if end <= t.curHi {
			g.bytes = sum64(g.bytes, bytes)
			g.objects = sum64(g.objects, objects)
			g.full++
			g.started++
			g.ended++
			return
		}
	}
	t.split(start, end, bytes, objects)
}

// split counts a request that crosses a border.
func (t *series) split(start, end int64, bytes, objects uint64) {
	from, to, whole := max(start, t.start), min(end, t.end), distance(start, end)
	t.seek(to - 1) // joins segments where needed, before the indexes below count
	g := t.seek(from)
	if start >= t.start {
		g.started++
	}
	t.crossing(start, end)
	b, o := share(bytes, distance(start, from), whole), share(objects, distance(start, from), whole)
	for {
		part := distance(start, min(t.curHi, to))
		nextB, nextO := share(bytes, part, whole), share(objects, part, whole)
		g.bytes = sum64(g.bytes, nextB-b)
		g.objects = sum64(g.objects, nextO-o)
		b, o = nextB, nextO
		if start >= t.curLo && end <= t.curHi {
			g.full++ // only after segments were joined just now
		} else {
			g.partial++
		}
		if t.curHi >= to || t.cur+1 >= t.limit() {
			break
		}
		t.locate(t.cur + 1)
		g = t.current()
	}
	if end <= t.end {
		g.ended++
	}
}

// crossing notes a request for the longer segments that may come.
func (t *series) crossing(start, end int64) {
	if t.coarser == nil || start >= t.curLo && end <= t.curHi {
		return
	}
	from, to := max(start, t.start), min(end, t.end)
	for l := range t.coarser {
		c := &t.coarser[l]
		i, j := int(distance(t.start, from)/c.dur), int(distance(t.start, to-1)/c.dur)
		if i == j && start >= t.start {
			count(&c.full, i)
			return
		}
		for k := i; k <= j; k++ {
			count(&c.partial, k)
		}
	}
}

func count(s *[]uint64, i int) {
	for len(*s) <= i {
		*s = append(*s, 0)
	}
	(*s)[i]++
}

// coarsen joins segments into those of the next length.
func (t *series) coarsen() {
	c := t.coarser[0]
	factor := int(c.dur / t.dur)
	joined := make([]segment, (len(t.segs)+factor-1)/factor)
	for i := range t.segs {
		joined[i/factor].merge(&t.segs[i])
	}
	for i := range joined {
		g := &joined[i]
		g.partial = 0
		if i < len(c.full) {
			g.full += c.full[i]
		}
		if i < len(c.partial) {
			g.partial = c.partial[i]
		}
	}
	t.segs, t.dur, t.coarser = joined, c.dur, t.coarser[1:]
	if len(t.coarser) == 0 {
		t.coarser = nil
	}
	t.locate(0)
}

// fail counts a failed request in the segment that it ended in.
func (t *series) fail(start, end int64) {
	if start == end {
		if start >= t.start && start <= t.end {
			t.seek(start).errors++
		}
		return
	}
	if end > t.start && end <= t.end {
		t.seek(end-1).errors++
	}
}

// finish sets the end of a series that was open until now, and the length that
// segments get by it.
func (t *series) finish(end, dur int64) {
	for t.coarser != nil && t.dur < dur {
		t.coarsen()
	}
	t.end, t.open, t.coarser = end, false, nil
	if n := t.limit(); len(t.segs) > n { // requests of no duration, right at the end
		for i := n; i < len(t.segs); i++ {
			t.segs[n-1].merge(&t.segs[i])
		}
		t.segs = t.segs[:n]
	}
	t.locate(0)
}

// merge adds the segments of a series over the same window.
func (t *series) merge(o *series) {
	for i := range o.segs {
		if i == len(t.segs) {
			t.segs = append(t.segs, segment{})
		}
		t.segs[i].merge(&o.segs[i])
	}
}

// total is what lies in the whole window, except full and partial, which
// count requests of one segment.
func (t *series) total() segment {
	var sum segment
	for i := range t.segs {
		sum.merge(&t.segs[i])
	}
	return sum
}
