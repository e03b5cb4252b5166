package stats

import (
	"time"

	"warp/internal/exact"
)

// Times contains the durations of the requests that started in a segment.
type Times struct {
	Requests                      uint64 // successful requests
	Latency, TTFB, Response, Wire Histogram
}

// Merge adds the counts of o.
func (t *Times) Merge(o *Times) {
	t.Requests += o.Requests
	t.Latency.Merge(&o.Latency)
	t.TTFB.Merge(&o.TTFB)
	t.Response.Merge(&o.Response)
	t.Wire.Merge(&o.Wire)
}

// NewSlices returns an empty series whose segments also have Times. Growing segments begin at 100
// ms, so that a short run has enough of them to show its variation.
func NewSlices(origin, from, to int64, asked time.Duration) Series {
	return newSeries(origin, from, to, asked, append([]time.Duration{100 * time.Millisecond, 500 * time.Millisecond}, ladder...))
}

// Observe returns the times of the segment for a request that started or was due at this instant, or nil if
// there are too many segments.
func (t *Series) Observe(start int64) *Times {
	g := t.seekWithin(start)
	if g == nil {
		return nil
	}
	if g.Times == nil {
		g.Times = new(Times)
	}
	return g.Times
}

// Each calls f for every non-empty bucket, the smallest values first, with the value that quantiles
// in it have.
func (h *Histogram) Each(f func(value time.Duration, n uint64)) {
	for page, p := range &h.pages {
		if p == nil {
			continue
		}
		for sub, n := range p {
			if n > 0 {
				f(h.middle(page, sub), n)
			}
		}
	}
}

// A PartSum adds up times, and separately the part of each that has a cause of its own.
type PartSum struct {
	N           uint64 // times whose part is known
	Whole, Part uint64 // their sums, in ns
}

func (s *PartSum) add(whole, part time.Duration) {
	s.merge(&PartSum{1, uint64(max(whole, 0)), uint64(part)})
}

func (s *PartSum) merge(o *PartSum) {
	s.N, s.Whole, s.Part = s.N+o.N, exact.AddUint(s.Whole, o.Whole), exact.AddUint(s.Part, o.Part)
}

// Share returns the part as a share of the whole.
func (s *PartSum) Share() float64 { return exact.Ratio(float64(s.Part), float64(s.Whole)) }
