package stats

import "warp/internal/exact"

const (
	// ObjectUnit is the fixed-point unit in which shares of objects are
	// counted. 2^20 leaves room for 17 billion objects times a thousand.
	ObjectUnit = 1 << 20
	// maxRequestObjects limits the objects of one request, so that sums cannot
	// overflow.
	maxRequestObjects = 1 << 40
)

// An Amount is the data that one request moved, at a constant rate from its
// start to its end. Its shares of adjacent times add up exactly.
type Amount struct {
	Start, End     int64
	Bytes, Objects uint64 // objects in ObjectUnit
}

// NewAmount returns the data of a request. Negative numbers count as 0.
func NewAmount(start, end, bytes, objects int64) Amount {
	return Amount{start, end, uint64(max(bytes, 0)), uint64(min(max(objects, 0), maxRequestObjects)) * ObjectUnit}
}

// Until returns what was moved before an instant, rounded down. A request that
// took no time has moved everything.
func (a *Amount) Until(at int64) (bytes, objects uint64) {
	part, whole := exact.Distance(a.Start, at), exact.Distance(a.Start, a.End)
	return exact.Share(a.Bytes, part, whole), exact.Share(a.Objects, part, whole)
}

// Between returns what was moved between two instants. A request that took no
// time belongs to both of two adjacent times if it is at their border.
func (a *Amount) Between(from, to int64) (bytes, objects uint64) {
	if a.Start >= from && a.End <= to {
		return a.Bytes, a.Objects
	}
	b, o := a.Until(max(a.Start, from))
	bytes, objects = a.Until(min(a.End, to))
	return bytes - b, objects - o
}
