package marks

import (
	"math"
	"slices"
	"time"

	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// Reports returns the figures of each mark in order of time, as far as the window
// is known. Requests that were due from unsent on were never sent.
func (m *Counts) Reports(w oplog.Window, skip time.Duration, marks []oplog.Mark, unsent int64) []results.MarkReport {
	m.SetWindow(w, skip, marks)
	end := m.to
	if end == math.MaxInt64 { // the end is not known yet
		end = max(m.last, m.from)
	}
	var at []int64 // of the marks in the window
	for _, p := range m.periods[1:] {
		if m.counted > 0 && p.from < end && (len(at) == 0 || p.from > at[len(at)-1]) {
			at = append(at, p.from)
		}
	}
	c := m.curve(end, unsent)
	var all []results.MarkReport
	found := m.recoveries(c, at)
	for _, mark := range marks {
		r := results.MarkReport{At: mark.Time(), Text: mark.Text}
		if i, ok := slices.BinarySearch(at, mark.At); ok {
			m.report(&r, m.periodStartingAt(mark.At), c, end, &found[i])
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

// report fills in the figures of the mark at the start of period k.
func (m *Counts) report(r *results.MarkReport, k int, c *curve, end int64, found *recovery) {
	from, next, previous := m.periods[k].from, end, max(m.periods[k-1].from, m.from)
	if k+1 < len(m.periods) {
		next = min(next, m.periods[k+1].from)
	}
	r.Before = m.periods[k-1].wholePhase(previous, from)
	r.LongestGapS = new(m.periods[k].longestGap(next))
	back, ok := next, false
	seconds := func(at int64) *float64 { return new(float64(at-from) / 1e9) }
	switch drop := found.drop; {
	case found.noise:
		r.Noise = true
	case drop != nil:
		r.DropS = seconds(max(drop.begin, from))
		if drop.ended {
			r.RecoveryFromS, r.RecoveryS, back, ok = seconds(max(drop.from, from)), seconds(drop.to), min(drop.to, next), true
		}
	case found.known:
		r.RecoveryFromS, r.RecoveryS, back, ok = seconds(from), seconds(from), from, true
	}
	if o := found.relapse; o != nil {
		r.RelapseS = seconds(o.begin)
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
// includes requests in flight at its start, and tail requests that started after
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
		p.P99 = new(float64(all.Quantile(.99)) / 1e6)
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
