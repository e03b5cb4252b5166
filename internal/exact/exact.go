// Package exact provides arithmetic without overflow and rounding: sums of 128 bits,
// sums that stop at the largest number, and shares that add up.
package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Uint128 is an unsigned sum of 128 bits.
type Uint128 struct{ Hi, Lo uint64 }

// Add adds hi·2^64 + lo.
func (u *Uint128) Add(hi, lo uint64) {
	var carry uint64
	u.Lo, carry = bits.Add64(u.Lo, lo, 0)
	u.Hi, _ = bits.Add64(u.Hi, hi, carry)
}

// Big returns u as a big.Int.
func (u Uint128) Big() *big.Int {
	b := new(big.Int).SetUint64(u.Hi)
	return b.Add(b.Lsh(b, 64), new(big.Int).SetUint64(u.Lo))
}

// Float returns u as a float64, off by at most one unit in the last place.
func (u Uint128) Float() float64 { return float64(u.Hi)*(1<<64) + float64(u.Lo) }

// AddInt returns a+b, or the largest int64 if the sum overflows. b must not be negative.
func AddInt(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// AddUint returns a+b, or the largest uint64 if the sum overflows. It is commutative
// and associative, so the order of additions never changes a sum.
func AddUint(a, b uint64) uint64 {
	s, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return s
}

// Distance returns b-a, or the largest int64 if that overflows, or 0 for a > b.
func Distance(a, b int64) int64 {
	if b <= a {
		return 0
	}
	if d := uint64(b) - uint64(a); d < math.MaxInt64 {
		return int64(d)
	}
	return math.MaxInt64
}

// Share returns floor(amount·part/whole) for part ≤ whole. The differences of the shares
// up to successive points add up to the amount exactly.
func Share(amount uint64, part, whole int64) uint64 {
	if part >= whole {
		return amount
	}
	hi, lo := bits.Mul64(amount, uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return q
}

// FloorDiv returns a/b rounded down, for b > 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Ratio returns a/b, or 0 if b is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
