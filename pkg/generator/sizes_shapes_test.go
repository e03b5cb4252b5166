package generator

import (
	"math"
	"slices"
	"testing"
)

// Each aligned run of 2^k numbers has one in each of 2^k slices, and the order is not always the same.
func TestStratified(t *testing.T) {
	t.Parallel()
	for _, stream := range []int{0, 1} {
		r := Rand(7, "strata", stream)
		for range 3 * (1 << strataBits) / 64 { // also across the border of a pass
			var slices [64]int
			for range 64 {
				slices[int(r.stratified()*64)]++
			}
			for i, n := range slices {
				if n != 1 {
					t.Fatalf("slice %d of 64 has %d numbers", i, n)
				}
			}
		}
	}
	a, b := Rand(7, "strata", 0), Rand(7, "strata", 1)
	same := 0
	for range 64 {
		if int(a.stratified()*64) == int(b.stratified()*64) {
			same++
		}
	}
	if same > 16 {
		t.Errorf("two streams agree in %d of 64 slices", same)
	}
}

// The draws have the quantiles of the distribution, and their mean is as documented after
// few draws: independent ones would need 21,000 for 5 %.
func TestLognormalSizes(t *testing.T) {
	t.Parallel()
	s := mustSizes(t, "lognormal:median=64KiB,sigma=2,max=1TiB", false)
	const n = 1 << 14
	r := Rand(1, "sizes", 0)
	drawn := make([]int64, n)
	for i := range drawn {
		drawn[i] = s.Next(r)
	}
	slices.Sort(drawn)
	// Standard normal quantiles, from tables.
	for share, normal := range map[float64]float64{0.01: -2.326348, 0.1: -1.281552, 0.5: 0, 0.9: 1.281552, 0.99: 2.326348} {
		want := 65536 * math.Exp(2*normal)
		if got := float64(drawn[int(share*n)]); math.Abs(got/want-1) > 0.02 {
			t.Errorf("the %g quantile is %.0f, want %.0f", share, got, want)
		}
	}
	for stream := range 20 {
		r := Rand(2, "sizes", stream)
		sum := 0.0
		for range 1024 {
			sum += float64(s.Next(r))
		}
		if got := sum / 1024 / s.Mean(); math.Abs(got-1) > 0.2 {
			t.Errorf("stream %d: the mean of 1024 sizes is %.3f times the expected one", stream, got)
		}
	}
	clipped := mustSizes(t, "lognormal:median=1000,sigma=2,max=7389", false)
	sum, above := 0.0, 0
	sampled := sample(t, clipped, n, 1, 7389, func(size int64) {
		if size == 7389 {
			above++
		}
	})
	if sum = sampled / n; math.Abs(sum/clipped.Mean()-1) > 0.01 {
		t.Errorf("mean %.1f, want %.1f", sum, clipped.Mean())
	}
	if share := float64(above) / n; math.Abs(share-0.158655) > 0.001 {
		t.Errorf("%.4f of the sizes are clipped, want 0.1587", share)
	}
}

// Even a hundred objects have the shares of the weights.
func TestExactSizes(t *testing.T) {
	t.Parallel()
	s := mustSizes(t, "exact:4KiB:60,1MiB:30,64MiB:10", false)
	count := make(map[int64]int)
	sample(t, s, 128, 4096, 64<<20, func(size int64) { count[size]++ })
	for size, want := range map[int64]float64{4096: 76.8, 1 << 20: 38.4, 64 << 20: 12.8} {
		if got := float64(count[size]); math.Abs(got-want) > 2 {
			t.Errorf("%v of 128 objects have %d bytes, want %g", got, size, want)
		}
	}
	if s.Min() != 4096 || s.Max() != 64<<20 {
		t.Errorf("sizes from %d to %d", s.Min(), s.Max())
	}
}

// The frequencies of ranks are the exact probabilities, by a chi-squared test.
func TestZipf(t *testing.T) {
	t.Parallel()
	const draws = 400_000
	for _, exponent := range []float64{0, 0.5, 0.99, 1, 1.2, 2.5} {
		for _, n := range []int{1, 2, 3, 50} {
			total := 0.0
			for k := range n {
				total += math.Pow(float64(k+1), -exponent)
			}
			z, r := NewZipf(exponent), Rand(3, "zipf", n)
			counts := make([]float64, n)
			for range draws {
				counts[z.Rank(r, n)]++
			}
			chi := 0.0
			for k, got := range counts {
				want := draws * math.Pow(float64(k+1), -exponent) / total
				chi += (got - want) * (got - want) / want
			}
			// One in 100,000 is higher, by the approximation of Wilson and Hilferty.
			k := float64(n - 1)
			if limit := k * math.Pow(1-2/(9*k)+4.265*math.Sqrt(2/(9*k)), 3); k > 0 && chi > limit {
				t.Errorf("exponent %g, %d ranks: chi-squared is %.1f, more than %.1f", exponent, n, chi, limit)
			}
		}
	}
}

// The reference is scipy.stats.zipfian(0.99, 1000000).cdf at 1, 100 and 10000 ranks, of SciPy 1.17.1.
func TestZipfOfManyRanks(t *testing.T) {
	t.Parallel()
	const n, draws, exponent = 1_000_000, 200_000, 0.99
	z, r := NewZipf(exponent), Rand(4, "zipf", 0)
	limits := []int{1, 100, 10_000}
	var counts [3]float64
	for range draws {
		rank := z.Rank(r, n)
		for i, limit := range limits {
			if rank < limit {
				counts[i]++
			}
		}
	}
	reference := [3]float64{0.06496944918900975, 0.34398522066787346, 0.6642711323392615}
	for i, limit := range limits {
		want := reference[i]
		if got := counts[i] / draws; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/draws) {
			t.Errorf("the first %d ranks have a share of %.4f, want %.4f", limit, got, want)
		}
	}
}

func BenchmarkZipf(b *testing.B) {
	z, r := NewZipf(0.99), Rand(1, "zipf", 0)
	for b.Loop() {
		z.Rank(r, 1_000_000)
	}
}

func BenchmarkLognormal(b *testing.B) {
	s, r := lognormalSizes{1 << 16, 1 << 30, 1}, Rand(1, "sizes", 0)
	for b.Loop() {
		s.Next(r)
	}
}
