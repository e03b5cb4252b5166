package stats

import "time"

// Times are how long the requests took that started in a segment.
type Times struct {
	Requests                uint64 // successful ones
	Latency, TTFB, Response Histogram
}

// Merge adds what o counted.
func (t *Times) Merge(o *Times) {
	t.Requests += o.Requests
	t.Latency.Merge(&o.Latency)
	t.TTFB.Merge(&o.TTFB)
	t.Response.Merge(&o.Response)
}

// NewSlices begins a series whose segments also have Times. Those that take
// their length by themselves begin at 100 ms, so that a short run has enough of
// them to say how much it varies.
func NewSlices(origin, from, to int64, asked time.Duration) Series {
	return newSeries(origin, from, to, asked, append([]time.Duration{100 * time.Millisecond, 500 * time.Millisecond}, ladder...))
}

// Observe are the times of the segment that a request belongs to which started
// at this instant; nil where there are too many segments.
func (t *Series) Observe(start int64) *Times {
	g := t.seek(min(max(start, t.From), max(t.To-1, t.From)))
	if g == nil {
		return nil
	}
	if g.Times == nil {
		g.Times = new(Times)
	}
	return g.Times
}

// Each calls f for every bucket that is not empty, from the smallest values on,
// with the value that quantiles in it are reported as.
func (h *Histogram) Each(f func(value time.Duration, n uint64)) {
	for page, p := range &h.pages {
		if p == nil {
			continue
		}
		for sub, n := range p {
			if n > 0 {
				f(time.Duration(min(max(middle(page, sub), h.min), h.max)), n)
			}
		}
	}
}
