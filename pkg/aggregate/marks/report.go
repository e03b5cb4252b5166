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
	// recoveryShare is the share of the throughput before the mark that counts as
	// recovered.
	recoveryShare = .95
	// A stall is a gap without a success that is longer than both minStall and
	// stallIntervals mean times between two successes.
	minStall       = int64(500 * time.Millisecond)
	stallIntervals = 10
)

// Reports returns the figures of each mark in order of time, as far as the window
// is known.
func (m *Counts) Reports(w oplog.Window, skip time.Duration, marks []oplog.Mark) []results.MarkReport {
	m.SetWindow(w, skip, marks)
	end := m.to
	if end == math.MaxInt64 { // the end is not known yet
		end = max(m.last, m.from)
	}
	c := m.curve(end)
	var all []results.MarkReport
	for _, mark := range marks {
		r := results.MarkReport{At: mark.Time(), Text: mark.Text}
		if k := m.periodStartingAt(mark.At); k > 0 && mark.At < end && m.counted {
			m.report(&r, k, c, end)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b results.MarkReport) int { return a.At.Compare(b.At) })
	return all
}

// periodStartingAt returns the period that begins with a mark, or 0 if the mark is
// outside the window.
func (m *Counts) periodStartingAt(at int64) int {
	for k := 1; k < len(m.periods); k++ {
		if m.periods[k].from == at {
			return k
		}
	}
	return 0
}

// report fills in the figures of the mark at the begin of period k.
func (m *Counts) report(r *results.MarkReport, k int, c *curve, end int64) {
	from, next, previous := m.periods[k].from, end, max(m.periods[k-1].from, m.from)
	if k+1 < len(m.periods) {
		next = min(next, m.periods[k+1].from)
	}
	r.Before = m.periods[k-1].wholePhase(previous, from)
	gap := m.periods[k].longestGap(next)
	r.LongestGapS = &gap
	back, ok := next, false
	if from > previous {
		before := m.periods[k-1]
		needed := recoveryShare * float64(before.objects) / float64(from-previous)
		if at, found := c.recovery(from, needed, before.minStallLength(from-previous)); found {
			seconds := float64(at-from) / 1e9
			r.RecoveryS, back, ok = &seconds, min(at, next), true
		}
	}
	r.During = m.periods[k].phaseBetween(c, from, back, true, !ok || back == next)
	if ok {
		r.After = m.periods[k].phaseBetween(c, back, next, back == from, true)
	}
}

// wholePhase returns the figures of the whole period.
func (s *period) wholePhase(from, to int64) *results.MarkPhase {
	if to <= from {
		return nil
	}
	p := &results.MarkPhase{Seconds: float64(to-from) / 1e9}
	setRates(p, s.bytes, float64(s.objects))
	setLatencies(p, s.starts)
	return p
}

// phaseBetween returns the figures between two instants of the period. Head
// includes requests in flight at its begin, and tail requests that started after
// its end.
func (s *period) phaseBetween(c *curve, from, to int64, head, tail bool) *results.MarkPhase {
	if to <= from {
		return nil
	}
	p := &results.MarkPhase{Seconds: float64(to-from) / 1e9}
	b, o := c.until(from)
	bytes, objects := c.until(to)
	setRates(p, uint64(bytes-b), objects-o)
	first, last := 0, len(s.starts)
	if !head {
		first = firstStartBin(from - s.from)
	}
	if !tail {
		last = firstStartBin(to - s.from)
	}
	setLatencies(p, s.starts[min(first, len(s.starts)):min(last, len(s.starts))])
	return p
}

// firstStartBin returns the first bin that begins this long after a mark, or later.
func firstStartBin(since int64) int {
	i := startBinIndex(since)
	if startBinBoundary(i) < since {
		i++
	}
	return i
}

func setRates(p *results.MarkPhase, bytes uint64, objects float64) {
	p.BytesPerS, p.ObjectsPerS = float64(bytes)/p.Seconds, objects/stats.ObjectUnit/p.Seconds
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

// longestGap returns the longest time without a successful request between the
// mark and the end of its period, in seconds.
func (s *period) longestGap(end int64) float64 {
	longest, last := int64(0), s.from
	for i := range s.intervals {
		if p := &s.intervals[i]; p.succeeded > 0 {
			longest, last = max(longest, exact.Distance(last, p.first)), p.last
		}
	}
	return float64(max(longest, exact.Distance(last, end))) / 1e9
}

// A curve is the data moved from the first mark up to each interval boundary.
type curve struct {
	at             []int64
	bytes, objects []float64
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

// minStallLength returns the length from which a gap counts as a stall, given the
// rate of successes in a period of that length.
func (s *period) minStallLength(length int64) int64 {
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

// curve accumulates the intervals of all periods.
func (m *Counts) curve(end int64) *curve {
	c := &curve{end: end}
	bytes, objects := 0., 0.
	last := int64(math.MaxInt64) // success
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
		for i := range s.intervals {
			at := s.intervalBoundary(int64(i))
			if at >= next {
				break
			}
			c.at, c.bytes, c.objects = append(c.at, at), append(c.bytes, bytes), append(c.objects, objects)
			p := &s.intervals[i]
			bytes += float64(p.bytes)
			objects += float64(p.objects)
			if p.succeeded > 0 {
				c.addGap(last, p.first)
				last = p.last
			}
		}
		// Nothing was moved after the last interval.
		if at := s.intervalBoundary(int64(len(s.intervals))); at < next {
			c.at, c.bytes, c.objects = append(c.at, at), append(c.bytes, bytes), append(c.objects, objects)
		}
	}
	c.at, c.bytes, c.objects = append(c.at, end), append(c.bytes, bytes), append(c.objects, objects)
	c.addGap(last, end)
	return c
}

// until returns the data moved up to an instant, interpolating within an interval.
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

// recovery returns the first interval boundary after which the mean over
// recoverySpan is at least needed (objects per ns) without a stall. The mean alone
// does not show a stall, because an open loop catches up afterwards.
func (c *curve) recovery(mark int64, needed float64, stall int64) (at int64, found bool) {
	i, stalls := sort.Search(len(c.at), func(i int) bool { return c.at[i] >= mark }), c.gaps
	for ; i+1 < len(c.at) && c.at[i] <= c.end-recoverySpan; i++ {
		for len(stalls) > 0 && (stalls[0].to <= c.at[i+1] || stalls[0].to-stalls[0].from <= stall) {
			stalls = stalls[1:] // too early or too short to matter
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
