package stats_test

import (
	"math"
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
