package stats

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"warp/internal/exact"
)

const (
	subBits = 7            // a doubling is cut into 128 buckets
	subs    = 1 << subBits // buckets of one doubling
	// MaxValue is the largest value that a Histogram tells apart: 416 days in
	// ns. It bounds the sum of squares: 2^18 such values still fit 128 bits.
	MaxValue = 1<<55 - 1
	octaves  = 55 - subBits + 1
)

// A Histogram is a histogram of durations in ns (or of any other non-negative
// integer) that merges exactly. Count, mean, standard deviation, minimum and
// maximum are exact. A quantile is off by at most 1/256 of its value (0.4 %),
// because a bucket is at most 1/128 of its lower border wide and its middle is
// reported; below 256 ns it is exact, and it never lies outside of minimum and
// maximum. The zero value is an empty histogram.
//
// Sums are integers, so the order of Add and Merge changes no digit. Buckets are allocated by doubling when first touched: latencies
// between 100 µs and 1 s cost 14 KiB.
type Histogram struct {
	pages    [octaves]*[subs]uint64
	count    uint64
	min, max uint64
	sum      exact.Uint128
	squares  exact.Uint128
}

// bucket returns the page and the place in it for v. Page 0 counts values
// below 128 one by one; page p holds [2^(p+6), 2^(p+7)) in 128 steps.
func bucket(v uint64) (page, sub int) {
	if v < subs {
		return 0, int(v)
	}
	top := bits.Len64(v) - 1 // v is in [2^top, 2^(top+1))
	return top - subBits + 1, int(v>>(top-subBits)) & (subs - 1)
}

// middle is the value in the middle of a bucket, rounded down.
func middle(page, sub int) uint64 {
	if page == 0 {
		return uint64(sub)
	}
	width := uint64(1) << (page - 1)
	return (subs+uint64(sub))*width + (width-1)/2
}

// Add counts one value. A negative one counts as 0, one beyond 416 days as 416 days.
func (h *Histogram) Add(d time.Duration) {
	v := uint64(min(max(d, 0), MaxValue))
	page, sub := bucket(v)
	if h.pages[page] == nil {
		h.pages[page] = new([subs]uint64)
	}
	h.pages[page][sub]++
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.count++
	h.sum.Add(0, v)
	h.squares.Add(bits.Mul64(v, v))
}

// Merge adds everything that o counted. It leaves o as it is.
func (h *Histogram) Merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	if h.count == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.count += o.count
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

// Count is the number of values.
func (h *Histogram) Count() uint64 { return h.count }

// Min is the smallest value, 0 if there is none.
func (h *Histogram) Min() time.Duration { return time.Duration(h.min) }

// Max is the largest value, 0 if there is none.
func (h *Histogram) Max() time.Duration { return time.Duration(h.max) }

// Sum is the sum of all values in ns.
func (h *Histogram) Sum() float64 { return h.sum.Float() }

// Mean is the arithmetic mean in ns, 0 if there are no values.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return h.sum.Float() / float64(h.count)
}

// StdDev is the standard deviation of the values themselves (not an estimate
// for a larger population) in ns.
func (h *Histogram) StdDev() float64 {
	if h.count == 0 {
		return 0
	}
	// n·Σv² − (Σv)² in whole numbers: floats would cancel to noise where all
	// values are alike.
	n := new(big.Int).SetUint64(h.count)
	sum := h.sum.Big()
	v := n.Mul(n, h.squares.Big())
	v.Sub(v, sum.Mul(sum, sum))
	f, _ := new(big.Float).SetInt(v).Float64()
	return math.Sqrt(max(f, 0)) / float64(h.count)
}

// rankOf is the rank of the value at quantile q of n values, from 1.
func rankOf(q float64, n uint64) uint64 {
	x := q * float64(n)
	// 0.07·100 is a little above 7 in floating point, and the rank is 7.
	return uint64(max(math.Ceil(x-x*4e-16), 1))
}

// Quantile is the smallest value that at least the share q of all values do
// not exceed (nearest rank), within the error that the type states. It is 0 if
// there are no values.
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
				return time.Duration(min(max(middle(page, sub), h.min), h.max))
			}
			rank -= n
		}
	}
	return h.Max()
}
