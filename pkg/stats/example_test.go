package stats_test

import (
	"fmt"
	"time"

	"warp/pkg/stats"
)

// Two machines measure, and their histograms merge exactly.
func ExampleHistogram_Merge() {
	var a, b stats.Histogram
	for i := range 100 {
		a.Add(time.Duration(i) * time.Microsecond)
		b.Add(time.Duration(100+i) * time.Microsecond)
	}
	a.Merge(&b)
	fmt.Println(a.Count(), a.Min(), a.Max(), a.Quantile(.5).Round(time.Microsecond))
	// Output: 200 0s 199µs 99µs
}

// A request that crosses the border of two segments counts in both, by its share of time.
func ExampleSeries() {
	s := stats.NewSeries(0, 0, int64(10*time.Second), time.Second)
	s.Add(&stats.Amount{Start: int64(500 * time.Millisecond), End: int64(1500 * time.Millisecond), Bytes: 1000, Objects: 2})
	for _, p := range s.Between(0, int64(2*time.Second)) {
		fmt.Println(time.Duration(p.From), p.Bytes, p.Objects, p.Partial)
	}
	// Output:
	// 0s 500 1 1
	// 1s 500 1 1
}
