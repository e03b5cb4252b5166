package marks

import (
	"math"
	"slices"
	"sort"
	"time"

	"warp/internal/exact"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// The rules of docs/numbers.md, "Marks".
const (
	recoverySpan = int64(results.RecoverySpan)
	// recoveryShare is the share of the throughput before the mark that counts as
	// recovered.
	recoveryShare = .95
	// A stall is a gap without a success that is longer than both minStall and
	// stallIntervals mean times between two successes.
	minStall       = int64(500 * time.Millisecond)
	stallIntervals = 10
	// A response time is slow if it exceeds both the p99 before by slowMargin
	// and slowFactor times that p99. slowShare of the requests may be slow.
	slowMargin = int64(5 * time.Millisecond)
	slowFactor = 2
	slowShare  = .05
	// The rise of the throughput is looked for in riseRange after the instant at
	// which the rule finds the throughput back.
	riseRange = 2 * recoverySpan
	lowSpan   = int64(time.Second) // the time over which the depth of an outage is measured
)

// An outage is a time in which the throughput, or in an open loop the response
// time, was not as in the steady time before.
type outage struct {
	begin    int64
	from, to int64 // the earliest and the latest plausible end
	ended    bool
	noise    bool // not distinguishable from noise
}

// A recovery says what happened after a mark.
type recovery struct {
	known   bool
	noise   bool    // there was a drop, not distinguishable from noise
	drop    *outage // nil if there was none
	relapse *outage // the next one before the next mark
}

// A steady time is the time before a mark with which the time after it is compared.
type steady struct {
	rate  float64 // objects per ns
	stall int64   // a gap from this length on is a stall
	slow  int64   // a response time above this is slow; 0 in a closed loop
}

// recoveries returns what happened after each of the marks, which are in the
// window and in order. Marks overlap if the outage of the first is not over for
// the span of a recovery when the next one is set. They are compared with the
// steady time before the first of them.
func (m *Counts) recoveries(c *curve, marks []int64) []recovery {
	all := make([]recovery, len(marks))
	quiet := m.from // nothing has happened since
	for i := 0; i < len(marks); {
		before, ok := m.steadyTime(c, quiet, marks[i])
		if !ok {
			quiet = marks[i]
			i++
			continue
		}
		s := newSearch(c, before)
		j, outages := i+1, []outage(nil)
		for ; ; j++ {
			limit := c.end
			if j < len(marks) {
				limit = marks[j]
			}
			outages = s.outages(marks[i], limit)
			lasting := false
			quiet = marks[j-1]
			for _, o := range outages {
				lasting = lasting || !o.ended || o.to > limit
				quiet = max(quiet, o.to)
			}
			if j == len(marks) || !lasting && marks[j]-quiet >= recoverySpan {
				break
			}
		}
		for k := i; k < j; k++ {
			next := c.end
			if k+1 < len(marks) {
				next = marks[k+1]
			}
			if c.end-marks[k] >= recoverySpan {
				all[k] = recoveryOf(outages, marks[k], next)
			}
		}
		i = j
	}
	return all
}

// recoveryOf finds the outages that concern a mark.
func recoveryOf(outages []outage, mark, next int64) recovery {
	r := recovery{known: true}
	for i := range outages {
		o := &outages[i]
		switch {
		case o.ended && o.to <= mark:
		case o.noise:
			r.noise = r.noise || r.drop == nil && o.begin <= mark+recoverySpan
		case r.drop == nil:
			r.drop, r.noise = o, false
		case r.relapse == nil && o.begin < next:
			r.relapse = o
		}
	}
	return r
}

// steadyTime returns the figures of the time between two instants, or false if
// nothing was moved.
func (m *Counts) steadyTime(c *curve, from, to int64) (s steady, ok bool) {
	if to <= from {
		return s, false
	}
	var objects float64
	var succeeded uint64
	var response stats.Histogram
	if first := m.periods[0]; from == m.from {
		objects, response = float64(first.objects), first.response
		for _, b := range first.starts {
			if b != nil {
				succeeded += b.latency.Count()
			}
		}
	} else {
		_, a := c.until(from)
		_, b := c.until(to)
		objects = b - a
		for i := c.index(from); i < len(c.pieces) && c.at[i] < to; i++ {
			if p := c.pieces[i]; p != nil {
				succeeded += p.succeeded
				if p.response != nil {
					p.response.Each(func(d time.Duration, n uint64) {
						for range n {
							response.Add(d)
						}
					})
				}
			}
		}
	}
	if objects == 0 {
		return s, false
	}
	s = steady{rate: objects / float64(to-from), stall: math.MaxInt64}
	if succeeded > 0 {
		s.stall = max(minStall, stallIntervals*int64(uint64(to-from)/succeeded))
	}
	if m.due > 0 && m.due == m.counted && response.Count() > 0 {
		p99 := int64(response.Quantile(.99))
		s.slow = max(slowFactor*p99, p99+slowMargin)
	}
	return s, true
}

// A search finds outages. Its lists have an entry for each border at which a
// span of recovery fits before the end of the window.
type search struct {
	*curve
	steady
	throughput []bool // is as before
	response   []bool // is as before, and nothing that was due is waiting
}

func newSearch(c *curve, before steady) *search {
	s := &search{curve: c, steady: before}
	n := sort.Search(len(c.at), func(i int) bool { return c.at[i] > c.end-recoverySpan })
	n = min(n, len(c.pieces))
	s.throughput, s.response = make([]bool, n), make([]bool, n)
	s.judgeThroughput()
	s.judgeResponse()
	return s
}

func (s *search) good(i int) bool { return s.throughput[i] && s.response[i] }

// judgeThroughput compares the mean over the span after each border, and looks
// for stalls in it. The mean alone does not show a stall, because an open loop
// catches up afterwards.
func (s *search) judgeThroughput() {
	stalls := s.gaps
	for i := range s.throughput {
		for len(stalls) > 0 && (stalls[0].to <= s.at[i+1] || stalls[0].to-stalls[0].from <= s.stall) {
			stalls = stalls[1:] // too early or too short to matter
		}
		if len(stalls) > 0 && stalls[0].from < s.at[i]+recoverySpan {
			continue
		}
		_, objects := s.until(s.at[i] + recoverySpan)
		s.throughput[i] = objects-s.objects[i] >= float64(recoveryShare*s.rate)*float64(recoverySpan)
	}
}

// judgeResponse counts the slow requests among those due in the span after each
// border.
func (s *search) judgeResponse() {
	if s.slow == 0 {
		for i := range s.response {
			s.response[i] = true
		}
		return
	}
	slow, all := make([]float64, len(s.pieces)+1), make([]float64, len(s.pieces)+1) // before each border
	for i, p := range s.pieces {
		slow[i+1], all[i+1] = slow[i], all[i]
		if p == nil || p.response == nil {
			continue
		}
		p.response.Each(func(d time.Duration, n uint64) {
			if all[i+1] += float64(n); int64(d) > s.slow {
				slow[i+1] += float64(n)
			}
		})
	}
	for i := range s.response {
		k := s.index(s.at[i] + recoverySpan)
		s.response[i] = !s.waiting[i] && slow[k]-slow[i] <= slowShare*(all[k]-all[i])
	}
}

// outages returns the outages that are found before limit, without what follows
// it.
func (s *search) outages(from, limit int64) (all []outage) {
	for i := s.index(from); i < len(s.throughput) && s.at[i]+recoverySpan <= limit; {
		if s.good(i) {
			i++
			continue
		}
		back := i
		for back < len(s.throughput) && !s.good(back) {
			back++
		}
		if back == len(s.throughput) {
			return append(all, outage{begin: s.at[s.fall(i, len(s.pieces))], from: s.end, to: s.end})
		}
		o := s.outage(i, back)
		all = append(all, o)
		i = max(s.index(o.to), back)
	}
	return all
}

// outage finds begin and end of an outage that the rule found between two borders.
func (s *search) outage(i, back int) outage {
	begin := s.fall(i, back)
	o := outage{begin: s.at[begin], from: s.at[i], to: s.at[i], ended: true}
	risen, answered := i, i // the first borders after which throughput and response time were as before
	for k := i; k < back; k++ {
		if !s.throughput[k] {
			risen = k + 1
		}
		if !s.response[k] {
			answered = k + 1
		}
	}
	if risen > i {
		s.rise(&o, min(begin, risen-1), risen)
		o.noise = o.noise && !s.stalled(s.at[i], s.at[risen])
	}
	if answered > i {
		o.from, o.to, o.noise = max(o.from, s.at[answered]), max(o.to, s.at[answered]), false
	}
	return o
}

// stalled reports whether there was a stall between two instants.
func (s *search) stalled(from, to int64) bool {
	return slices.ContainsFunc(s.gaps, func(g gap) bool { return g.to-g.from > s.stall && g.to > from && g.from < to })
}

// fall returns the border at which the outage began: the one that best splits
// the time up to its lowest second into the rate before and the rate of that
// second.
func (s *search) fall(i, until int) int {
	lowest, end := math.Inf(1), i
	for k := i; k < until && s.at[k]+lowSpan <= s.curve.end; k++ {
		if _, objects := s.until(s.at[k] + lowSpan); objects-s.objects[k] < lowest {
			lowest, end = objects-s.objects[k], s.index(s.at[k]+lowSpan)
		}
	}
	middle := (s.rate + lowest/float64(lowSpan)) / 2
	best, begin := math.Inf(-1), i
	for k := i; k < end && s.at[k] <= s.at[i]+recoverySpan; k++ {
		missing := float64(middle*float64(s.at[end]-s.at[k])) - (s.objects[end] - s.objects[k])
		if missing > best {
			best, begin = missing, k
		}
	}
	return begin
}

// rise finds the border that best splits the time around risen into two means,
// by least squares, and those that are nearly as good.
func (s *search) rise(o *outage, begin, risen int) {
	first := risen
	for first > begin && s.at[first-1] >= s.at[risen]-recoverySpan {
		first--
	}
	last := s.index(s.at[risen] + riseRange)
	for k := risen + 1; k < len(s.throughput); k++ { // a relapse
		if !s.throughput[k] {
			last = min(last, k)
			break
		}
	}
	last = min(max(last, s.index(s.at[risen]+recoverySpan)), len(s.pieces))
	until := min(s.index(s.at[risen]+recoverySpan), last-1)
	f := s.fit(first, last)
	if until < risen || risen == first {
		o.from, o.to = s.at[risen], s.at[risen]
		return
	}
	best := math.Inf(1)
	for k := risen; k <= until; k++ {
		best = min(best, f.residual(k))
	}
	near := best + stats.NearlyAsGood(best, last-first)
	o.from = s.end
	for k := risen; k <= until; k++ {
		if f.residual(k) <= near {
			o.from, o.to = min(o.from, s.at[k]), s.at[k]
		}
	}
	o.noise = !stats.SplitSignificant(f.whole(), best, last-first)
}

// A fit is a part of a curve, to be split.
type fit struct {
	*stats.Splitter
	first int
}

func (f *fit) residual(k int) float64 { return f.Residual(k - f.first) }
func (f *fit) whole() float64         { return f.Residual(0) }

func (s *search) fit(first, last int) *fit {
	lengths, amounts := make([]float64, last-first), make([]float64, last-first)
	for k := range lengths {
		length, objects := float64(s.at[first+k+1]-s.at[first+k]), s.objects[first+k+1]-s.objects[first+k]
		if s.slow > 0 { // an open loop, in which the store catches up after an outage
			objects = min(objects, float64(s.rate*length))
		}
		lengths[k], amounts[k] = length/1e9, objects/stats.ObjectUnit
	}
	return &fit{stats.NewSplitter(lengths, amounts), first}
}

// index returns the first border at an instant or later.
func (c *curve) index(at int64) int {
	return min(sort.Search(len(c.at), func(i int) bool { return c.at[i] >= at }), len(c.at)-1)
}

// A curve is the data moved from the first mark up to each border of the
// intervals, the last of which is the end of the window.
type curve struct {
	at             []int64
	bytes, objects []float64
	pieces         []*interval // after each border but the last; nil = empty
	waiting        []bool      // whether something that was due waited through the piece
	end            int64
	gaps           []gap // longer than minStall
}

// A gap is a time without a successful request.
type gap struct{ from, to int64 }

// addGap records a time without a successful request if it is long enough to be a
// stall.
func (c *curve) addGap(from, to int64) {
	if exact.Distance(from, to) > minStall {
		c.gaps = append(c.gaps, gap{from, to})
	}
}

// curve accumulates the intervals of all periods. Requests that were never sent
// have been waiting since unsent.
func (m *Counts) curve(end, unsent int64) *curve {
	c := &curve{end: end}
	bytes, objects := 0., 0.
	last := int64(math.MaxInt64) // success
	waiting := int64(m.queuedBefore)
	add := func(at int64, p *interval) {
		c.at, c.bytes, c.objects, c.pieces = append(c.at, at), append(c.bytes, bytes), append(c.objects, objects), append(c.pieces, p)
		if p == nil {
			c.waiting = append(c.waiting, waiting > 0 || at >= unsent)
			return
		}
		waiting -= int64(p.sent)
		c.waiting = append(c.waiting, waiting > 0 || at >= unsent)
		waiting += int64(p.queued)
		bytes += float64(p.bytes)
		objects += float64(p.objects)
		if p.succeeded > 0 {
			c.addGap(last, p.first)
			last = p.last
		}
	}
	for k := 1; k < len(m.periods); k++ {
		s := m.periods[k]
		next := end
		if k+1 < len(m.periods) {
			next = min(next, m.periods[k+1].from)
		}
		if s.from >= next {
			continue
		}
		last = min(last, s.from)
		// Without requests the intervals end early.
		for i := int64(0); s.intervalBoundary(i) < next && i < maxIntervals; i++ {
			var p *interval
			if i < int64(len(s.intervals)) {
				p = &s.intervals[i]
			}
			add(s.intervalBoundary(i), p)
		}
	}
	c.at, c.bytes, c.objects = append(c.at, end), append(c.bytes, bytes), append(c.objects, objects)
	c.addGap(last, end)
	return c
}

// until returns the data moved up to an instant, interpolating within an interval.
func (c *curve) until(at int64) (bytes, objects float64) {
	i, found := slices.BinarySearch(c.at, at)
	switch {
	case found:
		return c.bytes[i], c.objects[i]
	case i == 0:
		return 0, 0
	case i == len(c.at):
		return c.bytes[i-1], c.objects[i-1]
	}
	i--
	share := float64(at-c.at[i]) / float64(c.at[i+1]-c.at[i])
	return c.bytes[i] + float64(share*(c.bytes[i+1]-c.bytes[i])), c.objects[i] + float64(share*(c.objects[i+1]-c.objects[i]))
}
