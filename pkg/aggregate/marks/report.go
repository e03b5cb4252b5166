package marks

import (
	"math"
	"slices"
	"sort"
	"time"

	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

const (
	recoverySpan = int64(results.RecoverySpan)
	// recoveryShare is how much of the throughput before the mark is enough.
	recoveryShare = .95
	// A stall is a gap without a success that is longer than both minStall and
	// stallIntervals mean times between two successes.
	minStall       = int64(500 * time.Millisecond)
	stallIntervals = 10
)

// Reports are the figures of the marks in order of time, as far as the window is known.
func (m *Counts) Reports(w oplog.Window, skip time.Duration, marks []oplog.Mark) []results.MarkReport {
	m.SetWindow(w, skip, marks)
	end := m.to
	if end == math.MaxInt64 { // not decided yet
		end = max(m.last, m.from)
	}
	c := m.curve(end)
	var all []results.MarkReport
	for _, mark := range marks {
		r := results.MarkReport{At: mark.Time(), Text: mark.Text}
		if k := m.stretchOf(mark.At); k > 0 && mark.At < end && m.counted {
			m.report(&r, k, c, end)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b results.MarkReport) int { return a.At.Compare(b.At) })
	return all
}

// stretchOf is the stretch that begins with a mark; 0 where it is outside of the
// window.
func (m *Counts) stretchOf(at int64) int {
	for k := 1; k < len(m.stretches); k++ {
		if m.stretches[k].from == at {
			return k
		}
	}
	return 0
}

// report fills in the figures of the mark that stretch k begins with.
func (m *Counts) report(r *results.MarkReport, k int, c *curve, end int64) {
	from, next, previous := m.stretches[k].from, end, max(m.stretches[k-1].from, m.from)
	if k+1 < len(m.stretches) {
		next = min(next, m.stretches[k+1].from)
	}
	r.Before = m.stretches[k-1].phase(previous, from)
	gap := m.stretches[k].longestGap(next)
	r.LongestGapS = &gap
	back, ok := next, false
	if from > previous {
		before := m.stretches[k-1]
		needed := recoveryShare * float64(before.objects) / float64(from-previous)
		if at, found := c.recovery(from, needed, before.stall(from-previous)); found {
			seconds := float64(at-from) / 1e9
			r.RecoveryS, back, ok = &seconds, min(at, next), true
		}
	}
	r.During = m.stretches[k].part(c, from, back, true, !ok || back == next)
	if ok {
		r.After = m.stretches[k].part(c, back, next, back == from, true)
	}
}

// phase is about the whole stretch.
func (s *stretch) phase(from, to int64) *results.MarkPhase {
	if to <= from {
		return nil
	}
	p := &results.MarkPhase{Seconds: float64(to-from) / 1e9}
	setRates(p, s.bytes, float64(s.objects))
	setLatencies(p, s.starts)
	return p
}

// part is about a piece of the stretch. The requests that were on their way at
// its begin are in it where head is set, and those after its end where tail is.
func (s *stretch) part(c *curve, from, to int64, head, tail bool) *results.MarkPhase {
	if to <= from {
		return nil
	}
	p := &results.MarkPhase{Seconds: float64(to-from) / 1e9}
	b, o := c.until(from)
	bytes, objects := c.until(to)
	setRates(p, uint64(bytes-b), objects-o)
	first, last := 0, len(s.starts)
	if !head {
		first = startAfter(from - s.from)
	}
	if !tail {
		last = startAfter(to - s.from)
	}
	setLatencies(p, s.starts[min(first, len(s.starts)):min(last, len(s.starts))])
	return p
}

// startAfter is the first bin of requests that started so long after a mark, or later.
func startAfter(since int64) int {
	i := startNumber(since)
	if startBorder(i) < since {
		i++
	}
	return i
}

func setRates(p *results.MarkPhase, bytes uint64, objects float64) {
	p.BytesPerS, p.ObjectsPerS = float64(bytes)/p.Seconds, objects/unit/p.Seconds
}

func setLatencies(p *results.MarkPhase, bins []*startBin) {
	var all stats.Histogram
	for _, b := range bins {
		if b != nil {
			all.Merge(&b.latency)
			p.Errors += b.errors
		}
	}
	p.Requests = all.Count() + p.Errors
	if all.Count() > 0 {
		ms := float64(all.Quantile(.99)) / 1e6
		p.P99 = &ms
	}
}

// longestGap is the longest time without a successful request between the mark
// and the end of its stretch, in s.
func (s *stretch) longestGap(end int64) float64 {
	longest, last := int64(0), s.from
	for i := range s.pieces {
		if p := &s.pieces[i]; p.succeeded > 0 {
			longest, last = max(longest, exact.Distance(last, p.first)), p.last
		}
	}
	return float64(max(longest, exact.Distance(last, end))) / 1e9
}

// A curve is what was moved from the first mark up to each border of a piece.
type curve struct {
	at             []int64
	bytes, objects []float64
	end            int64
	gaps           []silence // without a success, longer than minStall
}

// A silence is a time without a success.
type silence struct{ from, to int64 }

// gap notes a time without a success.
func (c *curve) gap(from, to int64) {
	if exact.Distance(from, to) > minStall {
		c.gaps = append(c.gaps, silence{from, to})
	}
}

// stall is how long a gap is at least that the stretch of that length does not
// make probable.
func (s *stretch) stall(length int64) int64 {
	succeeded := uint64(0)
	for _, b := range s.starts {
		if b != nil {
			succeeded += b.latency.Count()
		}
	}
	if succeeded == 0 {
		return math.MaxInt64
	}
	return max(minStall, stallIntervals*int64(uint64(length)/succeeded))
}

// curve adds up the pieces of all stretches.
func (m *Counts) curve(end int64) *curve {
	c := &curve{end: end}
	bytes, objects := 0., 0.
	last := int64(math.MaxInt64) // success
	for k := 1; k < len(m.stretches); k++ {
		s := m.stretches[k]
		next := end
		if k+1 < len(m.stretches) {
			next = min(next, m.stretches[k+1].from)
		}
		if s.from >= next {
			continue
		}
		last = min(last, s.from)
		for i := range s.pieces {
			at := s.border(int64(i))
			if at >= next {
				break
			}
			c.at, c.bytes, c.objects = append(c.at, at), append(c.bytes, bytes), append(c.objects, objects)
			p := &s.pieces[i]
			bytes += float64(p.bytes)
			objects += float64(p.objects)
			if p.succeeded > 0 {
				c.gap(last, p.first)
				last = p.last
			}
		}
		// Nothing was moved behind the last piece.
		if at := s.border(int64(len(s.pieces))); at < next {
			c.at, c.bytes, c.objects = append(c.at, at), append(c.bytes, bytes), append(c.objects, objects)
		}
	}
	c.at, c.bytes, c.objects = append(c.at, end), append(c.bytes, bytes), append(c.objects, objects)
	c.gap(last, end)
	return c
}

// until is what was moved up to an instant; within a piece evenly.
func (c *curve) until(at int64) (bytes, objects float64) {
	i := sort.Search(len(c.at), func(i int) bool { return c.at[i] > at }) - 1
	switch {
	case i < 0:
		return 0, 0
	case i == len(c.at)-1:
		return c.bytes[i], c.objects[i]
	}
	share := float64(at-c.at[i]) / float64(c.at[i+1]-c.at[i])
	return c.bytes[i] + share*(c.bytes[i+1]-c.bytes[i]), c.objects[i] + share*(c.objects[i+1]-c.objects[i])
}

// recovery is the first border of a piece from which the mean over recoverySpan
// is at least as needed, per ns, without a stall in it: an open loop catches up
// on what it has missed, so the mean alone would not show one.
func (c *curve) recovery(mark int64, needed float64, stall int64) (at int64, found bool) {
	i, stalls := sort.Search(len(c.at), func(i int) bool { return c.at[i] >= mark }), c.gaps
	for ; i+1 < len(c.at) && c.at[i] <= c.end-recoverySpan; i++ {
		for len(stalls) > 0 && (stalls[0].to <= c.at[i+1] || stalls[0].to-stalls[0].from <= stall) {
			stalls = stalls[1:] // it ends in this piece at the latest, or is none
		}
		if len(stalls) > 0 && stalls[0].from < c.at[i]+recoverySpan {
			continue
		}
		if _, objects := c.until(c.at[i] + recoverySpan); objects-c.objects[i] >= needed*float64(recoverySpan) {
			return c.at[i], true
		}
	}
	return 0, false
}
