package assert

import (
	"math"
	"time"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// times returns the histogram of the family.
func (f Family) times(s *results.Slice) *stats.Histogram {
	switch f {
	case TTFB:
		return &s.TTFB
	case Response:
		return &s.Response
	case Wire:
		return &s.Wire
	}
	return &s.Latency
}

// of returns the metric of a segment of the window, or false if there is no
// data.
func (m Metric) of(s *results.Slice) (float64, bool) {
	switch m.Family {
	case Throughput:
		return s.Bytes / s.Seconds, s.Seconds > 0
	case Objects:
		return s.Objects / s.Seconds, s.Seconds > 0
	case Errors:
		n := s.Inside + s.Errors
		return float64(s.Errors) / float64(max(n, 1)), n > 0
	}
	h := m.Family.times(s)
	if h.Count() == 0 || m.Family == Wire && !stamped(s) {
		return 0, false
	}
	switch m.Stat {
	case Mean:
		return h.Mean() / 1e6, true
	case Min:
		return millis(h.Min()), true
	case Max:
		return millis(h.Max()), true
	}
	return millis(h.Quantile(m.Q)), true
}

// stamped reports whether the client's part of the times is known.
func stamped(s *results.Slice) bool { return results.Stamped(s.Wire.Count(), s.Latency.Count()) }

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

// ofRequests reports whether the metric is about requests. Others are rates,
// which are known even if there are none.
func (m Metric) ofRequests() bool { return m.Family != Throughput && m.Family != Objects }

// requests returns how many requests the metric covers.
func (m Metric) requests(s *results.Slice) uint64 {
	switch {
	case m.Family == Errors:
		return s.Inside + s.Errors
	case m.Family.isTime():
		return m.Family.times(s).Count()
	}
	return s.Inside
}

// minSegments is the minimum number of segments for an interval.
const minSegments = 10

// usual is the share of the interval that assertions about a run have.
const usual = .95

// interval returns the interval of the metric with the given share by a block bootstrap over
// the segments of the window.
func (m Metric) interval(segments []results.Slice, share float64) (low, high float64, ok bool) {
	if len(segments) < minSegments || m.Stat == Min && m.Family.isTime() || m.Stat == Max && m.Family.isTime() {
		return 0, 0, false
	}
	if m.Family.isTime() && m.Stat == Percentile {
		return m.percentileInterval(segments, share)
	}
	parts, of := make([]float64, len(segments)), make([]float64, len(segments))
	for i := range segments {
		parts[i], of[i] = m.ratio(&segments[i])
	}
	return stats.RatioInterval(parts, of, share)
}

// ratio returns the metric as a ratio of two sums.
func (m Metric) ratio(s *results.Slice) (part, of float64) {
	switch m.Family {
	case Throughput:
		return s.Bytes, s.Seconds
	case Objects:
		return s.Objects, s.Seconds
	case Errors:
		return float64(s.Errors), float64(s.Inside + s.Errors)
	}
	h := m.Family.times(s)
	return h.Sum() / 1e6, float64(h.Count())
}

// A bucket is a histogram bucket: the index of its value, and its count.
type bucket struct {
	value int
	n     float64
}

// percentileInterval returns the interval of a percentile. It resamples the segments with their histograms.
func (m Metric) percentileInterval(segments []results.Slice, share float64) (low, high float64, ok bool) {
	var whole stats.Histogram
	for i := range segments {
		whole.Merge(m.Family.times(&segments[i]))
	}
	if whole.Count() == 0 {
		return 0, 0, false
	}
	var values []time.Duration
	index := map[time.Duration]int{}
	whole.Each(func(v time.Duration, _ uint64) {
		index[v] = len(values)
		values = append(values, v)
	})
	at, buckets := whole.Quantile(m.Q), make([][]bucket, len(segments))
	totals, influence := make([]float64, len(segments)), make([]float64, len(segments))
	for i := range segments {
		m.Family.times(&segments[i]).Each(func(v time.Duration, n uint64) {
			buckets[i] = append(buckets[i], bucket{nearest(values, index, v), float64(n)})
			totals[i] += float64(n)
			influence[i] -= (1 - m.Q) * float64(n)
			if v > at {
				influence[i] += float64(n)
			}
		})
	}
	var found []float64
	counts := make([]float64, len(values))
	stats.ResampleBlocks(len(segments), stats.BlockLength(influence), stats.Resamples, 1, func(times []int) {
		clear(counts)
		all := 0.
		for i, n := range times {
			if n == 0 {
				continue
			}
			drawn := float64(n)
			for _, b := range buckets[i] {
				counts[b.value] += drawn * b.n
			}
			all += drawn * totals[i]
		}
		if all > 0 {
			found = append(found, millis(values[rank(counts, math.Ceil(m.Q*all-1e-9))]))
		}
	})
	return stats.CentralOf(found, share)
}

// nearest returns the index of the value closest to v. A segment may report its
// extremes as values of their own.
func nearest(values []time.Duration, index map[time.Duration]int, v time.Duration) int {
	if i, ok := index[v]; ok {
		return i
	}
	best := 0
	for i := range values {
		if (values[i] - v).Abs() < (values[best] - v).Abs() {
			best = i
		}
	}
	return best
}

// rank returns the index at which the cumulative count reaches n.
func rank(counts []float64, n float64) int {
	for i, c := range counts {
		if n -= c; n <= 0 {
			return i
		}
	}
	return len(counts) - 1
}
