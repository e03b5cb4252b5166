package results

import (
	"cmp"
	"slices"
	"time"

	"warp/pkg/stats"
)

// ExtremesOf chooses among segments. Short ones at the ends of the window, which
// would be noise, must have been joined to their neighbours.
func ExtremesOf(all []Segment, byBytes bool) *Extremes {
	list := slices.Clone(all)
	if len(list) == 0 {
		return nil
	}
	e := &Extremes{Segments: len(list), By: "objects"}
	if byBytes {
		e.By = "bytes"
	}
	slices.SortStableFunc(list, func(a, b Segment) int { return cmp.Compare(a.Rate(byBytes), b.Rate(byBytes)) })
	e.Slowest, e.Median, e.Fastest = list[0], list[(len(list)-1)/2], list[len(list)-1]
	return e
}

// StatsOf returns nil if there are no values.
func StatsOf(h *stats.Histogram) *Stats {
	if h.Count() == 0 {
		return nil
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return &Stats{
		Count: h.Count(), Mean: h.Mean() / 1e6, StdDev: h.StdDev() / 1e6,
		P25: ms(h.Quantile(.25)), P50: ms(h.Quantile(.5)), P75: ms(h.Quantile(.75)), P90: ms(h.Quantile(.9)),
		P99: ms(h.Quantile(.99)), P999: ms(h.Quantile(.999)), Min: ms(h.Min()), Max: ms(h.Max()),
	}
}
