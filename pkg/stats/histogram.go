package stats

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"warp/internal/exact"
)

const (
	subBits = 7            // a doubling is divided into 128 buckets
	subs    = 1 << subBits // buckets of one doubling
	// MaxValue is the largest value that a Histogram distinguishes: 416 days in ns. It limits the
	// sum of squares: 2^18 such values still fit into 128 bits.
	MaxValue = 1<<55 - 1
	octaves  = 55 - subBits + 1
)

// A Histogram is a histogram of durations in ns (or of any other non-negative integer) that merges
// exactly. Count, mean, standard deviation, minimum and maximum are exact. A quantile is off by at
// most 1/256 of its value (0.4 %), because a bucket is at most 1/128 of its lower border wide and
// quantiles are the middles of buckets. Below 256 ns a quantile is exact, and it is never outside
// the minimum and maximum. The zero value is an empty histogram.
//
// Sums are integers, so the order of Add and Merge changes no digit. Buckets are allocated by
// doubling when first used: latencies between 100 µs and 1 s cost 14 KiB.
type Histogram struct {
	extent
	pages   [octaves]*[subs]uint64
	sum     exact.Uint128
	squares exact.Uint128
}

// An extent is the number of values, the smallest and the largest.
type extent struct{ count, min, max uint64 }

func (e *extent) add(o extent) {
	if e.count == 0 || o.min < e.min {
		e.min = o.min
	}
	e.max = max(e.max, o.max)
	e.count += o.count
}

// Count returns the number of values.
func (e *extent) Count() uint64 { return e.count }

// Min returns the smallest value, or 0 if there are none.
func (e *extent) Min() time.Duration { return time.Duration(e.min) }

// Max returns the largest value, or 0 if there are none.
func (e *extent) Max() time.Duration { return time.Duration(e.max) }

// middle returns the value in the middle of a bucket, as far as there are values.
func (e *extent) middle(page, sub int) time.Duration {
	return time.Duration(min(max(middle(page, sub), e.min), e.max))
}

// bucket returns the page of v and the index in it. Page 0 counts values below 128 one by one; page
// p holds [2^(p+6), 2^(p+7)) in 128 steps.
func bucket(v uint64) (page, sub int) {
	if v < subs {
		return 0, int(v)
	}
	top := bits.Len64(v) - 1 // v is in [2^top, 2^(top+1))
	return top - subBits + 1, int(v>>(top-subBits)) & (subs - 1)
}

// middle returns the value in the middle of a bucket, rounded down.
func middle(page, sub int) uint64 {
	if page == 0 {
		return uint64(sub)
	}
	width := uint64(1) << (page - 1)
	return (subs+uint64(sub))*width + (width-1)/2
}

// Add counts one value. A negative value counts as 0, and one above 416 days as 416 days.
func (h *Histogram) Add(d time.Duration) {
	v := uint64(min(max(d, 0), MaxValue))
	page, sub := bucket(v)
	if h.pages[page] == nil {
		h.pages[page] = new([subs]uint64)
	}
	h.pages[page][sub]++
	h.extent.add(extent{1, v, v})
	h.sum.Add(0, v)
	h.squares.Add(bits.Mul64(v, v))
}

// Merge adds the values of o. It does not change o.
func (h *Histogram) Merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	h.extent.add(o.extent)
	h.sum.Add(o.sum.Hi, o.sum.Lo)
	h.squares.Add(o.squares.Hi, o.squares.Lo)
	for i, theirs := range &o.pages {
		if theirs == nil {
			continue
		}
		if h.pages[i] == nil {
			h.pages[i] = new([subs]uint64)
		}
		for j, n := range theirs {
			h.pages[i][j] += n
		}
	}
}

// Sum returns the sum of all values in ns.
func (h *Histogram) Sum() float64 { return h.sum.Float() }

// Mean returns the arithmetic mean in ns, or 0 if there are no values.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return h.sum.Float() / float64(h.count)
}

// StdDev returns the standard deviation of the values (not an estimate for a larger population) in
// ns.
func (h *Histogram) StdDev() float64 {
	if h.count == 0 {
		return 0
	}
	// n·Σv² − (Σv)² in integers: floats would cancel to noise if all values are similar.
	n := new(big.Int).SetUint64(h.count)
	sum := h.sum.Big()
	v := n.Mul(n, h.squares.Big())
	v.Sub(v, sum.Mul(sum, sum))
	f, _ := new(big.Float).SetInt(v).Float64()
	return math.Sqrt(max(f, 0)) / float64(h.count)
}

// rankOf returns the rank, from 1, of the value at quantile q of n values.
func rankOf(q float64, n uint64) uint64 {
	x := q * float64(n)
	// 0.07·100 is a little above 7 in floating point, but the rank is 7.
	return uint64(max(math.Ceil(x-x*4e-16), 1))
}

// Quantile returns the smallest value that at least the share q of all values do not exceed
// (nearest rank), within the error documented for the type. It returns 0 if there are no values.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := rankOf(q, h.count)
	switch {
	case rank == 1:
		return h.Min()
	case rank >= h.count:
		return h.Max()
	}
	for page, p := range &h.pages {
		if p == nil {
			continue
		}
		for sub, n := range p {
			if n >= rank {
				return h.middle(page, sub)
			}
			rank -= n
		}
	}
	return h.Max()
}
