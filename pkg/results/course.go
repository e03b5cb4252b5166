package results

import (
	"time"

	"warp/pkg/stats"
)

// A Course is how an operation, or all of a group, went over time, in more
// detail than a report shows: what assertions are judged by.
type Course struct {
	Whole  Slice
	Slices map[time.Duration][]Slice // by the lengths in Options.Slices
}

// A Slice is a piece of the window. Rates are about the time in it, and the
// rest about the requests that started in it.
type Slice struct {
	Start          time.Time
	Seconds        float64
	Bytes, Objects float64
	Inside, Errors uint64 // successful requests and failed ones
	stats.Times
}

// AddUnsent adds the waits of requests that were never sent to the response times of the whole.
func (c *Course) AddUnsent(waits *stats.Histogram) {
	if c != nil {
		c.Whole.Response.Merge(waits)
	}
}

// Add adds what happened in the same time.
func (s *Slice) Add(o *Slice) {
	s.Bytes += o.Bytes
	s.Objects += o.Objects
	s.Inside += o.Inside
	s.Errors += o.Errors
	s.Times.Merge(&o.Times)
}
