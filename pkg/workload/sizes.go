package workload

import (
	"cmp"
	"math/bits"
	"slices"
)

// A sizeCounter makes a histogram of sizes.
type sizeCounter map[int64]*SizeBucket

// add counts a size. A bucket is 1/128 of its lower border wide, so there are at most 128 in each doubling.
func (c sizeCounter) add(size int64) {
	size = min(max(size, 0), maxSize)
	dropped := max(bits.Len64(uint64(size))-8, 0)
	border := size >> dropped << dropped
	b := c[border]
	if b == nil {
		c[border] = &SizeBucket{size, size, 1}
		return
	}
	b.Min, b.Max = min(b.Min, size), max(b.Max, size)
	b.Requests++
}

// sizes returns the histogram.
func (c sizeCounter) sizes() (all Sizes) {
	for _, b := range c {
		all = append(all, *b)
	}
	slices.SortFunc(all, func(a, b SizeBucket) int { return cmp.Compare(a.Min, b.Min) })
	return all
}
