package aggregate

import (
	"math/bits"
	"slices"
	"time"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// heatSteps is how many buckets cover a doubling of time, a power of 2. They
// are sums of the histogram's buckets.
const heatSteps = 2

// heatBucket returns the bucket of a duration in ns.
func heatBucket(ns uint64) int {
	if ns < 1<<heatSteps {
		return int(ns)
	}
	top := bits.Len64(ns) - 1
	return (top-heatSteps+1)<<heatSteps | int(ns>>(top-heatSteps))&(1<<heatSteps-1)
}

// heatBorder returns the lower bound of a bucket, in ns.
func heatBorder(bucket int) uint64 {
	if bucket < 1<<heatSteps {
		return uint64(bucket)
	}
	return (1<<heatSteps + uint64(bucket&(1<<heatSteps-1))) << (bucket>>heatSteps - 1)
}

// heatMap returns nil if no time was counted.
func heatMap(pieces []stats.Piece) *results.HeatMap {
	rows := make([]heatRow, len(pieces))
	first, last := maxHeat, -1
	for i := range pieces {
		if h := pieces[i].Latency; h != nil {
			rows[i] = heatRowOf(h)
			first, last = min(first, rows[i].first), max(last, rows[i].first+len(rows[i].counts)-1)
		}
	}
	if last < 0 {
		return nil
	}
	m := &results.HeatMap{Counts: make([][]uint64, len(rows))}
	for at := first; at <= last+1; at++ {
		m.BoundsMS = append(m.BoundsMS, float64(heatBorder(at))/1e6)
	}
	for i, row := range rows {
		m.Counts[i] = []uint64{}
		if len(row.counts) > 0 {
			m.Counts[i] = append(make([]uint64, row.first-first), row.counts...)
		}
	}
	return m
}

// maxHeat is above the highest possible bucket.
const maxHeat = 64 << heatSteps

// A heatRow has the buckets from the first to the last non-empty one.
type heatRow struct {
	first  int
	counts []uint64
}

func heatRowOf(h *stats.Sparse) heatRow {
	var all [maxHeat]uint64
	first, last := maxHeat, -1
	h.Each(func(value time.Duration, n uint64) {
		at := heatBucket(uint64(value))
		all[at] += n
		first, last = min(first, at), max(last, at)
	})
	if last < 0 {
		return heatRow{}
	}
	return heatRow{first, slices.Clone(all[first : last+1])}
}
