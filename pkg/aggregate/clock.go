package aggregate

import (
	"math"
	"math/bits"
	"time"

	"warp/pkg/oplog"
)

// span is the time a request took. A clock that was set back, or a row that
// is nonsense, must not corrupt the rest: an end before the start counts as
// the start, an end past the end of time as the end of time.
func span(r *oplog.Record) (start, end int64) {
	if r.Duration <= 0 {
		return r.Start, r.Start
	}
	return r.Start, addSat(r.Start, int64(r.Duration))
}

// addSat is a+b, held at the largest int64, for b ≥ 0.
func addSat(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// distance is b-a for a ≤ b, held at the largest int64; 0 for a > b.
func distance(a, b int64) int64 {
	if b <= a {
		return 0
	}
	if d := uint64(b) - uint64(a); d < math.MaxInt64 {
		return int64(d)
	}
	return math.MaxInt64
}

// sum64 is a+b, held at the largest uint64. Holding keeps addition commutative
// and associative, so even absurd rows cannot make order matter.
func sum64(a, b uint64) uint64 {
	s, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return s
}

// share is floor(amount·part/whole) for part ≤ whole. Shares up to successive
// points telescope: their differences add up to the amount exactly.
func share(amount uint64, part, whole int64) uint64 {
	if part >= whole {
		return amount
	}
	hi, lo := bits.Mul64(amount, uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return q
}

// response is the time from when the request was due to its end.
func response(r *oplog.Record, end int64) time.Duration {
	return time.Duration(distance(r.Due, end))
}
