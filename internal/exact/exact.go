// Package exact is arithmetic that never overflows and never rounds: sums of
// 128 bits, sums that stop at the largest number, and shares that add up.
package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Uint128 is an unsigned integer that only grows.
type Uint128 struct{ Hi, Lo uint64 }

// Add adds hi·2^64 + lo.
func (u *Uint128) Add(hi, lo uint64) {
	var carry uint64
	u.Lo, carry = bits.Add64(u.Lo, lo, 0)
	u.Hi, _ = bits.Add64(u.Hi, hi, carry)
}

// Big returns the same number.
func (u Uint128) Big() *big.Int {
	b := new(big.Int).SetUint64(u.Hi)
	return b.Add(b.Lsh(b, 64), new(big.Int).SetUint64(u.Lo))
}

// Float returns the nearest number of 64 bits or one next to it.
func (u Uint128) Float() float64 { return float64(u.Hi)*(1<<64) + float64(u.Lo) }

// AddInt is a+b, or the largest int64 if that is less. b must not be negative.
func AddInt(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// AddUint is a+b, or the largest uint64 if that is less. The limit keeps
// addition commutative and associative, so even absurd numbers cannot make
// order matter.
func AddUint(a, b uint64) uint64 {
	s, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return s
}

// Distance is b-a, or the largest int64 if that is less; 0 for a > b.
func Distance(a, b int64) int64 {
	if b <= a {
		return 0
	}
	if d := uint64(b) - uint64(a); d < math.MaxInt64 {
		return int64(d)
	}
	return math.MaxInt64
}

// Share is floor(amount·part/whole) for part ≤ whole. Shares up to successive
// points telescope: their differences add up to the amount exactly.
func Share(amount uint64, part, whole int64) uint64 {
	if part >= whole {
		return amount
	}
	hi, lo := bits.Mul64(amount, uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return q
}

// FloorDiv is a/b rounded down, for b > 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Ratio is a/b, and 0 where there is nothing to divide by.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
