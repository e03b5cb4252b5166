package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Comparisons of samples that differ by the detectable shift are significant with the given power.
func TestDetectable(t *testing.T) {
	t.Parallel()
	const comparisons = 1000
	for _, d := range []Design{Sides(6, 6), Sides(5, 9), Sides(30, 30), Pairs(8), Pairs(16), Pairs(30)} {
		shift := d.detectable(.05, .8)
		random := rand.New(rand.NewPCG(1, 2))
		shown := 0
		for range comparisons {
			a, b := make([]float64, d.A), make([]float64, d.B)
			for i := range a {
				a[i] = random.NormFloat64()
			}
			for i := range b {
				b[i] = random.NormFloat64() + shift
			}
			p := 0.
			if d.Paired {
				p = SignedRank(b)
			} else {
				p = RankSum(a, b)
			}
			if p <= .05 {
				shown++
			}
		}
		if share := float64(shown) / comparisons; share < .76 || share > .84 {
			t.Errorf("%+v: a shift of %.3f is shown in %.3f of all cases, want 0.8", d, shift, share)
		}
	}
}

func TestNothingIsDetectableWithTooFewRuns(t *testing.T) {
	t.Parallel()
	for _, d := range []Design{Sides(3, 3), Pairs(5), Sides(0, 4), Pairs(0)} {
		if got := d.detectable(.05, .8); !math.IsInf(got, 1) {
			t.Errorf("%+v: %v", d, got)
		}
	}
}

func TestRunsNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shift  float64
		paired bool
	}{{3, false}, {1, false}, {.3, false}, {2, true}, {1, true}, {.4, true}} {
		n, ok := new(Planner).RunsNeeded(c.shift, c.paired, .05, .8)
		if !ok {
			t.Fatalf("no number of runs shows %v", c.shift)
		}
		with := func(n int) float64 { return Design{n, n, c.paired}.detectable(.05, .8) }
		if with(n) > c.shift || with(n-1) <= c.shift {
			t.Errorf("%+v: %d runs; with one less %v is detectable, with so many %v", c, n, with(n-1), with(n))
		}
	}
	if n, ok := new(Planner).RunsNeeded(.001, false, .05, .8); ok {
		t.Errorf("%d runs show next to nothing", n)
	}
}
