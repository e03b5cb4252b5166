package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"warp/pkg/stats"
)

// TestSplitter compares residuals with their definition.
func TestSplitter(t *testing.T) {
	t.Parallel()
	times, amounts := []float64{1, 1, .5, 1, 2}, []float64{2, 3, 1, 10, 22}
	s := stats.NewSplitter(times, amounts)
	for k := range len(times) + 1 {
		want := 0.
		for _, part := range [][2]int{{0, k}, {k, len(times)}} {
			var time, amount float64
			for i := part[0]; i < part[1]; i++ {
				time, amount = time+times[i], amount+amounts[i]
			}
			for i := part[0]; i < part[1]; i++ {
				d := amounts[i]/times[i] - amount/time
				want += times[i] * d * d
			}
		}
		if got := s.Residual(k); math.Abs(got-want) > 1e-9 {
			t.Errorf("border %d: %g, want %g", k, got, want)
		}
	}
	if best := s.Residual(3); !stats.SplitSignificant(s.Residual(0), best, len(times)) || stats.SplitSignificant(s.Residual(0), s.Residual(1), len(times)) {
		t.Error("the wrong split is significant")
	}
}

// TestSplitConstants holds the two constants to what docs/numbers.md says of them, by simulation: the borders that are
// nearly as good as the best contain the true one in about 95 % of the series, and noise alone is hardly ever split.
func TestSplitConstants(t *testing.T) {
	t.Parallel()
	const series, n = 3000, 100
	if quantile := -2 * math.Log(1-math.Sqrt(.95)); math.Abs(stats.NearlyAsGood(n-2, n)-quantile) > .005 {
		t.Errorf("the limit is %g variances, and the quantile %g", stats.NearlyAsGood(n-2, n), quantile)
	}
	times := make([]float64, n)
	for i := range times {
		times[i] = 1
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, step := range []float64{0, .7, 1, 2} {
		covered, significant := 0, 0
		for range series {
			amounts := make([]float64, n)
			for i := range amounts {
				if amounts[i] = rng.NormFloat64(); i >= n/2 {
					amounts[i] += step
				}
			}
			s := stats.NewSplitter(times, amounts)
			best := math.Inf(1)
			for k := 1; k < n; k++ {
				best = min(best, s.Residual(k))
			}
			if s.Residual(n/2) <= best+stats.NearlyAsGood(best, n) {
				covered++
			}
			if stats.SplitSignificant(s.Residual(0), best, n) {
				significant++
			}
		}
		switch {
		case step == 0 && significant > series/200:
			t.Errorf("%d of %d series without a step are split", significant, series)
		case step > 0 && (covered < series*94/100 || step <= 1 && covered > series*98/100):
			t.Errorf("a step of %g deviations: %d of %d sets of borders have the true one", step, covered, series)
		case step == 2 && significant < series*99/100:
			t.Errorf("a step of %g deviations is found in %d of %d series", step, significant, series)
		}
		t.Logf("step %g: covered %.1f %%, significant %.2f %%", step, 100*float64(covered)/series, 100*float64(significant)/series)
	}
}
