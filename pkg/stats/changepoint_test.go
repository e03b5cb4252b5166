package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// history returns values with 1 % of noise, from a place on shifted by a step.
func history(seed uint64, n, at int, step float64) (values []float64) {
	random := rand.New(rand.NewPCG(seed, 60))
	for i := range n {
		x := math.Log(1000) + .01*random.NormFloat64()
		if at > 0 && i >= at {
			x += math.Log1p(step)
		}
		values = append(values, x)
	}
	return values
}

// A step of 5 % in 60 values with noise of 1 % is found within three of them, and there is no other change.
func TestChangePointsFindsSteps(t *testing.T) {
	t.Parallel()
	alone := 0
	for seed := range uint64(100) {
		at := 5 + int(seed*37%51)
		step := .05
		if seed%2 == 1 {
			step = -.05
		}
		got := ChangePoints(history(seed, 60, at, step), .01)
		if !slices.ContainsFunc(got, func(x int) bool { return x-at <= 3 && at-x <= 3 }) {
			t.Errorf("history %d changes at %d, and the changes found are at %v", seed, at, got)
		}
		if len(got) == 1 {
			alone++
		}
	}
	t.Logf("%d of 100 have no other change", alone)
	if alone < 95 {
		t.Errorf("only %d of 100 have no other change", alone)
	}
}

// Without a change, one is found with the given probability at most.
func TestChangePointsFalseAlarms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		alpha     float64
		histories uint64
		max       int
	}{{.01, 100, 5}, {.05, 150, 15}} { // more than 15 of 150 at 5 % have a probability of 1 %
		alarms := 0
		for seed := range test.histories {
			if len(ChangePoints(history(1000+seed, 60, 0, 0), test.alpha)) > 0 {
				alarms++
			}
		}
		t.Logf("alpha %g: %d of %d", test.alpha, alarms, test.histories)
		if alarms > test.max {
			t.Errorf("alpha %g: %d false alarms in %d histories", test.alpha, alarms, test.histories)
		}
	}
}

func TestChangePointsOfFewOrEqualValues(t *testing.T) {
	t.Parallel()
	for _, values := range [][]float64{nil, {1}, {1, 2}, {1, 2, 3, 4}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}} {
		if got := ChangePoints(values, .05); len(got) != 0 {
			t.Errorf("%v changes at %v", values, got)
		}
	}
	two := slices.Concat(history(1, 20, 0, 0), history(2, 20, 1, .1)[1:], history(3, 20, 0, 0))
	if got := ChangePoints(two, .01); !slices.Equal(got, []int{20, 39}) {
		t.Errorf("two steps are found at %v", got)
	}
}

// split is the definition of the energy distance, summed over all pairs.
func TestSplitIsTheEnergyDistance(t *testing.T) {
	t.Parallel()
	values := history(7, 30, 11, .02)
	mean := func(x, y []float64, same bool) float64 {
		sum, n := 0.0, 0
		for i, a := range x {
			for k, b := range y {
				if same && i == k {
					continue
				}
				sum, n = sum+math.Abs(a-b), n+1
			}
		}
		return sum / float64(n)
	}
	var best division
	for at := minStretch; at <= len(values)-minStretch; at++ {
		x, y := values[:at], values[at:]
		m, n := float64(len(x)), float64(len(y))
		if d := m * n / (m + n) * (2*mean(x, y, false) - mean(x, x, true) - mean(y, y, true)); d > best.distance {
			best = division{at, d}
		}
	}
	if got := split(values); got.at != best.at || math.Abs(got.distance-best.distance) > 1e-9 {
		t.Errorf("got %+v, want %+v", got, best)
	}
}
