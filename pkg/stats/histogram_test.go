package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// nearestRank returns the quantile by its definition.
func nearestRank(sorted []time.Duration, perMille int) time.Duration {
	rank := (perMille*len(sorted) + 999) / 1000
	return sorted[max(rank, 1)-1]
}

func TestHistogramAgainstOrderStatistics(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		var h Histogram
		values := make([]time.Duration, 1+rng.IntN(3000))
		scale := math.Pow(10, float64(round%12)+1)
		sum := 0.0
		for i := range values {
			values[i] = time.Duration(rng.ExpFloat64() * scale)
			h.Add(values[i])
			sum += float64(values[i])
		}
		slices.Sort(values)
		mean, dev := sum/float64(len(values)), 0.0
		for _, v := range values {
			dev += (float64(v) - mean) * (float64(v) - mean)
		}
		dev = math.Sqrt(dev / float64(len(values)))
		if h.Count() != uint64(len(values)) || h.Min() != values[0] || h.Max() != values[len(values)-1] {
			t.Fatal("count, min or max is wrong")
		}
		if math.Abs(h.Mean()-mean) > mean*1e-9 || math.Abs(h.StdDev()-dev) > dev*1e-6+1e-9 {
			t.Fatalf("mean %v, want %v; deviation %v, want %v", h.Mean(), mean, h.StdDev(), dev)
		}
		for _, q := range []int{0, 1, 70, 250, 500, 750, 900, 990, 999, 1000} {
			got, want := h.Quantile(float64(q)/1000), nearestRank(values, q)
			if math.Abs(float64(got-want)) > float64(want)/256 {
				t.Fatalf("quantile %d‰ of %d values: got %d, want %d", q, len(values), got, want)
			}
		}
	}
}

func TestHistogramEveryBucket(t *testing.T) {
	t.Parallel()
	for top := range 56 {
		for _, v := range []int64{1<<top - 1, 1 << top, 1<<top + 1, 1<<top + 1<<top/3} {
			page, sub := bucket(uint64(min(v, MaxValue)))
			m := float64(middle(page, sub))
			if math.Abs(m-float64(v)) > float64(v)/256 && v <= MaxValue {
				t.Errorf("%d is counted as %g", v, m)
			}
		}
	}
}

func TestHistogramMerge(t *testing.T) {
	t.Parallel()
	var parts [3]Histogram
	var whole Histogram
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		v := time.Duration(rng.Int64N(1 << rng.IntN(50)))
		whole.Add(v)
		parts[rng.IntN(3)].Add(v)
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
		var h Histogram
		for _, i := range order {
			h.Merge(&parts[i])
		}
		h.Merge(&Histogram{})
		sameHistogram(t, &h, &whole)
	}
	var right, left Histogram
	right.Merge(&parts[1])
	right.Merge(&parts[2])
	left.Merge(&parts[0])
	left.Merge(&right)
	sameHistogram(t, &left, &whole)
}

func sameHistogram(t *testing.T, a, b *Histogram) {
	t.Helper()
	if a.count != b.count || a.min != b.min || a.max != b.max || a.sum != b.sum || a.squares != b.squares {
		t.Fatal("sums differ")
	}
	for q := range 1001 {
		if x, y := a.Quantile(float64(q)/1000), b.Quantile(float64(q)/1000); x != y {
			t.Fatalf("quantile %d‰: %d and %d", q, x, y)
		}
	}
}

func TestHistogramExtremes(t *testing.T) {
	t.Parallel()
	var h Histogram
	if h.Quantile(.5) != 0 || h.Mean() != 0 || h.StdDev() != 0 || h.Min() != 0 || h.Max() != 0 {
		t.Error("an empty histogram is not all zero")
	}
	h.Add(-5)
	h.Add(math.MinInt64)
	h.Add(math.MaxInt64)
	if h.Min() != 0 || h.Max() != MaxValue || h.Count() != 3 {
		t.Errorf("min %d max %d count %d", h.Min(), h.Max(), h.Count())
	}
	var same Histogram
	for range 1_000_000 {
		same.Add(123456789)
	}
	if same.StdDev() != 0 || same.Mean() != 123456789 || same.Quantile(.999) != 123456789 {
		t.Errorf("equal values: deviation %g, mean %g", same.StdDev(), same.Mean())
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h Histogram
	for i := range b.N {
		h.Add(time.Duration(i&1023) * time.Microsecond)
	}
}
