package results

import (
	"time"

	"warp/pkg/stats"
)

// A Timeline contains an operation, or a whole group, over time, in more detail than a report.
// Assertions use it.
type Timeline struct {
	Whole  Slice
	Slices map[time.Duration][]Slice // by the lengths in Options.Slices
}

// A Slice is a part of the window. Rates are about that time.
type Slice struct {
	Start          time.Time
	Seconds        float64
	Bytes, Objects float64
	Inside, Errors uint64 // successful requests and failed ones that count here, by when they were due or started

	Ended    uint64 // requests that ended here, successful or not
	InFlight uint64 // requests that were here, for a part of their time at least
	stats.Times
}

// AddUnsent adds the waits of requests that were never sent to the response times of the whole
// window.
func (c *Timeline) AddUnsent(waits *stats.Histogram) {
	if c != nil {
		c.Whole.Response.Merge(waits)
	}
}

// JoinSlices joins short slices at the ends of the window, see stats.JoinEnds.
func JoinSlices(all []Slice, length time.Duration) []Slice {
	return stats.JoinEnds(all, length.Seconds(), func(s *Slice) float64 { return s.Seconds }, func(a, b *Slice) Slice {
		sum := Slice{Start: a.Start, Seconds: a.Seconds + b.Seconds} // their histograms must not change
		sum.Add(a)
		sum.Add(b)
		return sum
	})
}

// Add adds another slice of the same time.
func (s *Slice) Add(o *Slice) {
	s.Bytes += o.Bytes
	s.Objects += o.Objects
	s.Inside += o.Inside
	s.Errors += o.Errors
	s.Ended += o.Ended
	s.InFlight += o.InFlight
	s.Times.Merge(&o.Times)
}
