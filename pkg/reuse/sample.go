package reuse

import "math"

// A Sample is a part of all objects, chosen by their hashes.
type Sample struct {
	Share float64 // of all objects
	limit uint64  // the objects have hashes up to this one
}

// All returns the sample that has all objects.
func All() Sample { return Sample{1, math.MaxUint64} }

// Has reports whether an object belongs to the sample.
func (s *Sample) Has(object uint64) bool { return object <= s.limit }

// Thin removes a tenth of the objects, so that the cost of looking at all of them does not matter. It returns which share is left.
func (s *Sample) Thin() (left float64) {
	limit := s.limit / 10 * 9
	left = float64(limit) / float64(s.limit)
	s.Share *= left
	s.limit = limit
	return left
}
