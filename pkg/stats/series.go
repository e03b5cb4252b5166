package stats

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"warp/internal/exact"
)

const (
	// maxSegments is the max number of segments of a chosen length.
	maxSegments = 100000
	// defaultSegments is the max number of segments if no length was chosen.
	defaultSegments = 400
)

// ladder contains the lengths of segments that grow. Each divides the next, so that segments can be
// merged during a run whose length is not known in advance.
var ladder = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	30 * 24 * time.Hour, 720 * 24 * time.Hour, // only broken clocks get here; 400 of these hold all time
}

// CheckSegments rejects lengths that would divide the window into too many segments.
func CheckSegments(window int64, asked time.Duration) error {
	switch {
	case asked < 0:
		return fmt.Errorf("segments of %v: the duration must be positive", asked)
	case asked > 0 && window/int64(asked) >= maxSegments:
		return fmt.Errorf("segments of %v cut %v into more than 100,000: choose %v or longer",
			asked, time.Duration(window).Round(time.Second), time.Duration(window/maxSegments+1))
	}
	return nil
}

// A Segment counts events in one part of a window. Everything except errors is about successful
// requests.
type Segment struct {
	Bytes, Objects uint64 // by share of time; objects in any sufficiently small unit
	Full, Partial  uint64 // requests entirely inside, and requests that cross a border
	Started, Ended uint64
	Errors         uint64  // failed requests that belong to the segment
	Latency        *Sparse `json:",omitempty"` // of requests that belong to the segment; nil if there are none
	Part           PartSum `json:",omitzero"`  // of the same requests
	Failed         Tally   `json:",omitempty"` // by the names passed to FailAs
	Times          *Times  `json:",omitempty"` // only in series of NewSlices
}

func (g *Segment) merge(o *Segment) {
	g.Bytes = exact.AddUint(g.Bytes, o.Bytes)
	g.Objects = exact.AddUint(g.Objects, o.Objects)
	g.Full += o.Full
	g.Partial += o.Partial
	g.Started += o.Started
	g.Ended += o.Ended
	g.Errors += o.Errors
	if o.Latency != nil {
		if g.Latency == nil {
			g.Latency = new(Sparse)
		}
		g.Latency.merge(o.Latency)
	}
	g.Part.merge(&o.Part)
	for name, n := range o.Failed {
		g.Failed.add(name, n)
	}
	if o.Times == nil {
		return
	}
	if g.Times == nil {
		g.Times = new(Times)
	}
	g.Times.Merge(o.Times)
}

// A Series divides time into segments, in both directions from Origin. It splits a request that
// crosses a border in proportion to time, in integers that add up exactly. A request that took no
// time belongs to the segment that begins at that time, or to the last one if it is at the end.
//
// Segments have the chosen length, or grow so that there are at most 400. Their final length
// depends only on the times, not on their order.
type Series struct {
	Origin   int64
	From, To int64 // the time that counts
	Dur      int64
	Segs     map[int64]*Segment // by number, which may be negative
	Lo, Hi   int64              // the lowest and the highest number, if there are segments
	Coarser  []coarse           // nil if the length was chosen
	TooMany  bool               // more than MaxSegments

	cur          *Segment // the last one found
	curLo, curHi int64
}

// coarse keeps what the sums of finer segments do not contain: requests that cross a border of
// finer segments. Full counts requests that fit into this length but not into a shorter one, and
// Partial those that do not fit.
type coarse struct {
	Dur           int64
	Full, Partial map[int64]uint64
}

func newCoarse(dur int64) coarse { return coarse{dur, map[int64]uint64{}, map[int64]uint64{}} }

// NewSeries returns an empty series for the time between from and to.
func NewSeries(origin, from, to int64, asked time.Duration) Series {
	return newSeries(origin, from, to, asked, ladder)
}

func newSeries(origin, from, to int64, asked time.Duration, ladder []time.Duration) Series {
	t := Series{Origin: origin, From: from, To: to, Dur: int64(asked), Segs: map[int64]*Segment{}}
	if asked <= 0 {
		t.Dur = int64(ladder[0])
		for _, d := range ladder[1:] {
			t.Coarser = append(t.Coarser, newCoarse(int64(d)))
		}
	}
	return t
}

// NewWholeSeries returns an empty series for all time. Its segments begin at multiples of their
// length since 1970, whenever the first request is.
func NewWholeSeries(asked time.Duration) Series {
	return NewSeries(0, math.MinInt64, math.MaxInt64, asked)
}

// number returns the number of the segment, of the given length, that contains an instant.
func (t *Series) number(at, dur int64) int64 {
	if at >= t.Origin {
		return int64((uint64(at) - uint64(t.Origin)) / uint64(dur))
	}
	return -1 - int64((uint64(t.Origin)-uint64(at)-1)/uint64(dur))
}

// at returns the start of segment i, limited to the range of int64.
func (t *Series) at(i int64) int64 {
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

// bounds returns the start and the end of segment i.
func (t *Series) bounds(i int64) (from, to int64) {
	return max(t.at(i), t.From), min(t.at(i+1), t.To)
}

// seek makes the segment of the instant at the current one. It returns nil if there are too many
// segments.
func (t *Series) seek(at int64) *Segment {
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
	t.cur = segment(t.Segs, i)
	t.curLo, t.curHi = t.bounds(i)
	return t.cur
}

// seekWithin is seek for an instant that may be outside the time that counts, before the first segment or after the last.
func (t *Series) seekWithin(at int64) *Segment {
	return t.seek(min(max(at, t.From), max(t.To-1, t.From)))
}

// segment returns the segment with a number, which it creates if there is none.
func segment(all map[int64]*Segment, i int64) *Segment {
	g := all[i]
	if g == nil {
		g = new(Segment)
		all[i] = g
	}
	return g
}

// include widens the range of numbers. It returns false if the range becomes too wide.
func (t *Series) include(i int64) bool {
	lo, hi := i, i
	if len(t.Segs) > 0 {
		lo, hi = min(lo, t.Lo), max(hi, t.Hi)
	}
	limit := int64(maxSegments)
	if t.Coarser != nil {
		limit = defaultSegments
	}
	if exact.Distance(lo, hi) >= limit {
		return false
	}
	t.Lo, t.Hi = lo, hi
	return true
}

// Overlaps reports whether any part of the time from start to end counts.
func (t *Series) Overlaps(start, end int64) bool {
	if start == end {
		return start >= t.From && start <= t.To
	}
	return start < t.To && end > t.From
}

// Add counts a successful request that overlaps.
func (t *Series) Add(a *Amount) {
	if t.cur != nil && a.Start >= t.curLo && a.Start < t.curHi && a.End <= t.curHi {
		g := t.cur
		g.Bytes = exact.AddUint(g.Bytes, a.Bytes)
		g.Objects = exact.AddUint(g.Objects, a.Objects)
		g.Full++
		g.Started++
		g.Ended++
		return
	}
	t.split(a)
}

// split counts a request that may cross a border.
func (t *Series) split(a *Amount) {
	start, end := a.Start, a.End
	from, to := max(start, t.From), min(end, t.To)
	last := from
	switch {
	case to > from:
		last = to - 1
	case start == t.To && start > t.From: // it took no time, at the end of the window
		from, last = start-1, start-1
	}
	// Both ends first, because merging segments changes the numbers.
	if t.seek(from) == nil || t.seek(last) == nil {
		return
	}
	first, final := t.number(from, t.Dur), t.number(last, t.Dur)
	cut := start < t.From || end > t.To
	t.note(from, last, cut)
	var b, o uint64
	if end > start {
		b, o = a.Until(from)
	}
	for i := first; i <= final; i++ {
		begin, _ := t.bounds(i)
		g := t.seek(max(from, begin))
		nextB, nextO := a.Until(min(t.curHi, to))
		g.Bytes = exact.AddUint(g.Bytes, nextB-b)
		g.Objects = exact.AddUint(g.Objects, nextO-o)
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

// note records, for longer segments, a request that does not fit into one of these. A request that
// the window cuts off fits into none.
func (t *Series) note(from, last int64, cut bool) {
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

// coarsen merges segments into segments of the next length.
func (t *Series) coarsen() {
	c := t.Coarser[0]
	factor := c.Dur / t.Dur
	joined := make(map[int64]*Segment, len(t.Segs)/int(factor)+1)
	for i, g := range t.Segs {
		segment(joined, exact.FloorDiv(i, factor)).merge(g)
	}
	for k, g := range joined {
		g.Full += c.Full[k]
		g.Partial = c.Partial[k]
	}
	t.Segs, t.Dur, t.Coarser = joined, c.Dur, t.Coarser[1:]
	t.Lo, t.Hi = exact.FloorDiv(t.Lo, factor), exact.FloorDiv(t.Hi, factor)
	if len(t.Coarser) == 0 {
		t.Coarser = nil
	}
	t.cur = nil
}

// Fail counts a failed request in the segment of an instant: when it started, or
// when it was due.
func (t *Series) Fail(at int64) {
	if g := t.seekWithin(at); g != nil {
		g.Errors++
	}
}

// FailAs counts a failed request under a name, in the same segment as Fail.
func (t *Series) FailAs(at int64, name string) {
	if g := t.seekWithin(at); g != nil {
		g.Failed.add(name, 1)
	}
}

// Time counts the duration of a successful request, in the same segment as Fail. Part is the part of the duration that
// PartSum adds up; 0 = unknown.
func (t *Series) Time(at int64, d, part time.Duration) {
	if g := t.seekWithin(at); g != nil {
		if g.Latency == nil {
			g.Latency = new(Sparse)
		}
		g.Latency.Add(d)
		if part > 0 {
			g.Part.add(d, part)
		}
	}
}

// TakeTimes moves what Time has counted from o to t.
func (t *Series) TakeTimes(o *Series) {
	times := Series{Origin: o.Origin, From: o.From, To: o.To, Dur: o.Dur, Segs: map[int64]*Segment{}, Lo: o.Lo, Hi: o.Hi}
	for _, c := range o.Coarser {
		times.Coarser = append(times.Coarser, newCoarse(c.Dur))
	}
	for i, g := range o.Segs {
		if g.Latency != nil {
			times.Segs[i] = &Segment{Latency: g.Latency, Part: g.Part}
			g.Latency, g.Part = nil, PartSum{}
		}
	}
	t.Merge(&times)
}

// End removes everything after the end of the window. That can only be requests that took no time
// and ended exactly at the end.
func (t *Series) End(at int64) {
	t.To, t.cur = at, nil
	last := t.number(at-1, t.Dur)
	for i, g := range t.Segs {
		if i > last && i > t.Lo {
			segment(t.Segs, last).merge(g)
			delete(t.Segs, i)
			t.Hi = last
		}
	}
}

// JoinAs merges segments until they are as long as o's.
func (t *Series) JoinAs(o *Series) {
	for t.Dur < o.Dur && t.Coarser != nil {
		t.coarsen()
	}
}

// Fit merges segments until there are few enough from first to last.
func (t *Series) Fit(first, last int64) {
	for t.Coarser != nil && exact.Distance(t.number(first, t.Dur), t.number(max(last-1, first), t.Dur)) >= defaultSegments {
		t.coarsen()
	}
}

// Merge adds a series with the same origin. It does not change o, except that it may merge
// segments.
func (t *Series) Merge(o *Series) {
	t.JoinAs(o)
	o.JoinAs(t)
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
		segment(t.Segs, i).merge(g)
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

func (t *Series) includeAll(o *Series) bool {
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

// Total returns the sum of all segments, except for times and for Full and Partial, which only
// apply to one segment.
func (t *Series) Total() Segment {
	var sum Segment
	for _, g := range t.Segs {
		numbers := *g
		numbers.Latency, numbers.Part, numbers.Failed, numbers.Times = nil, PartSum{}, nil, nil
		sum.merge(&numbers)
	}
	return sum
}

// Valid reports whether a decoded series can be merged with fresh, an empty series.
func (t *Series) Valid(fresh Series) bool {
	for fresh.Dur != t.Dur && fresh.Coarser != nil {
		fresh.coarsen()
	}
	if t.Dur != fresh.Dur || t.Origin != fresh.Origin || t.From != fresh.From || t.To != fresh.To || len(t.Coarser) != len(fresh.Coarser) || t.Hi < t.Lo {
		return false
	}
	for i, c := range t.Coarser {
		if c.Dur != fresh.Coarser[i].Dur || c.Full == nil || c.Partial == nil {
			return false
		}
	}
	for i, g := range t.Segs {
		if g == nil || i < t.Lo || i > t.Hi || len(g.Failed) > maxNames+1 {
			return false
		}
	}
	return t.Segs != nil && exact.Distance(t.Lo, t.Hi) < maxSegments
}

// A Piece is a segment and its position.
type Piece struct {
	From, To int64
	Segment
}

// JoinPieces joins short pieces at the ends of a window, see JoinEnds. A request
// that crosses the border between two joined pieces is partial in both of them,
// and counts twice in Partial.
func JoinPieces(pieces []Piece, length int64) []Piece {
	return JoinEnds(pieces, float64(length), func(p *Piece) float64 { return float64(exact.Distance(p.From, p.To)) }, func(a, b *Piece) Piece {
		sum := Piece{From: a.From, To: b.To}
		sum.merge(&a.Segment)
		sum.merge(&b.Segment)
		return sum
	})
}

// Between returns the segments of the time from start to end, including empty ones. The first one
// includes what was due before.
func (t *Series) Between(start, end int64) []Piece {
	if end <= start {
		return nil
	}
	first, last := t.number(start, t.Dur), t.number(end-1, t.Dur)
	list := make([]Piece, 0, last-first+1)
	for i := first; i <= last; i++ {
		from, to := t.bounds(i)
		p := Piece{From: max(from, start), To: min(to, end)}
		if own := t.Segs[i]; own != nil {
			p.Segment = *own
		}
		if next := t.Segs[i+1]; i == last && next != nil { // requests that took no time, exactly at the end
			p.add(next)
		}
		list = append(list, p)
	}
	if t.Lo < first {
		for i, g := range t.Segs {
			if i < first {
				list[0].add(g)
			}
		}
	}
	return list
}

// add adds a segment without changing the histograms that p may share with a series.
func (p *Piece) add(g *Segment) {
	own := p.Segment
	p.Segment = Segment{}
	p.merge(&own)
	p.merge(g)
}
