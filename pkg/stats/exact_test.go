package stats

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"warp/internal/check"
)

// exactValues contains the results of SciPy, statsmodels and plain enumeration, as testdata/make.py
// computes them.
type exactValues struct {
	Sides  []sidesCase
	Pairs  []pairsCase
	Large  []sidesCase
	Holm   []holmCase
	Median []medianCase
}

type sidesCase struct {
	A, B               []float64
	P, Alpha, Estimate float64
	Interval           *intervalCase
}

type pairsCase struct {
	D                  []float64
	P, Alpha, Estimate float64
	Interval           *intervalCase
}

type intervalCase struct{ Low, High, Level float64 }

type holmCase struct {
	P, Adjusted []float64
	Rejected    []bool
}

type medianCase struct{ Values, Interval []float64 }

func readExact(t *testing.T) (e exactValues) {
	t.Helper()
	text, err := os.ReadFile("testdata/exact.json")
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	check.OK(t, err)
	return e
}

func near(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-9*max(1, math.Abs(y)) }

func (c *intervalCase) check(t *testing.T, got Shift) {
	t.Helper()
	want := Shift{Low: math.Inf(-1), High: math.Inf(1), Level: 1}
	if c != nil {
		want = Shift{Low: c.Low, High: c.High, Level: c.Level}
	}
	if !near(got.Low, want.Low) || !near(got.High, want.High) || !near(got.Level, want.Level) {
		t.Errorf("interval %v to %v of level %v, want %v to %v of %v", got.Low, got.High, got.Level, want.Low, want.High, want.Level)
	}
}

func TestRankSumIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range readExact(t).Sides {
		if p := RankSum(c.A, c.B); !near(p, c.P) {
			t.Errorf("%v and %v: p = %v, want %v", c.A, c.B, p, c.P)
		}
		if p := RankSum(c.B, c.A); !near(p, c.P) {
			t.Errorf("%v and %v, turned round: p = %v, want %v", c.A, c.B, p, c.P)
		}
		s := RankShift(c.A, c.B, c.Alpha)
		if !near(s.Estimate, c.Estimate) {
			t.Errorf("%v and %v: shift %v, want %v", c.A, c.B, s.Estimate, c.Estimate)
		}
		c.Interval.check(t, s)
	}
	for _, c := range readExact(t).Large {
		if p := RankSum(c.A, c.B); !near(p, c.P) {
			t.Errorf("%d and %d values: p = %v, want %v", len(c.A), len(c.B), p, c.P)
		}
	}
}

func TestSignedRankIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range readExact(t).Pairs {
		if p := SignedRank(c.D); !near(p, c.P) {
			t.Errorf("%v: p = %v, want %v", c.D, p, c.P)
		}
		s := PairedShift(c.D, c.Alpha)
		if !near(s.Estimate, c.Estimate) {
			t.Errorf("%v: shift %v, want %v", c.D, s.Estimate, c.Estimate)
		}
		c.Interval.check(t, s)
	}
}

func TestHolm(t *testing.T) {
	t.Parallel()
	for _, c := range readExact(t).Holm {
		for i, s := range Holm(c.P, func(left int) float64 { return .05 / float64(left) }) {
			if !near(s.Adjusted, c.Adjusted[i]) || s.Rejected != c.Rejected[i] {
				t.Errorf("%v: number %d is %+v, want %v, %v", c.P, i, s, c.Adjusted[i], c.Rejected[i])
			}
			if s.Rejected != (c.P[i] <= s.Alpha) {
				t.Errorf("%v: number %d was compared with %v and is %v", c.P, i, s.Alpha, s.Rejected)
			}
		}
	}
}

func TestMedianInterval(t *testing.T) {
	t.Parallel()
	for _, c := range readExact(t).Median {
		low, high, ok := MedianInterval(c.Values, .95)
		if ok != (c.Interval != nil) || ok && !slices.Equal(c.Interval, []float64{low, high}) {
			t.Errorf("%v: %v to %v, %v; want %v", c.Values, low, high, ok, c.Interval)
		}
	}
}

// The smallest p-values are those in published tables.
func TestSmallestP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    Design
		want float64
	}{
		{Sides(4, 4), 2. / 70}, {Sides(5, 5), 2. / 252}, {Sides(6, 6), 2. / 924}, {Sides(0, 3), 1}, {Sides(1, 1), 1},
		{Pairs(5), .0625}, {Pairs(6), .03125}, {Pairs(8), 1. / 128}, {Pairs(1), 1}, {Pairs(0), 1},
	} {
		if got := c.d.SmallestP(); !near(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.d, got, c.want)
		}
	}
}

// Ties make the distribution of U asymmetric: the tails are not mirror images.
func TestRankSumOfLopsidedTies(t *testing.T) {
	t.Parallel()
	if p := RankSum([]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1, 2}); p != 1 {
		t.Errorf("p = %v, want 1", p)
	}
	if p := RankSum([]float64{3, 3}, []float64{3, 3, 3}); p != 1 {
		t.Errorf("of equal values p = %v, want 1", p)
	}
}

// For samples too large for exact computation, permutation agrees with the exact results for
// smaller ones.
func TestPermutation(t *testing.T) {
	t.Parallel()
	for _, c := range readExact(t).Sides {
		ranks, _ := midranks(slices.Concat(c.A, c.B))
		sum := 0.0
		for _, r := range ranks[:len(c.A)] {
			sum += r
		}
		if p := permute(ranks, len(c.A), sum); math.Abs(p-c.P) > .01 {
			t.Errorf("%v and %v: p = %v, want about %v", c.A, c.B, p, c.P)
		}
	}
	var a, b []float64
	for i := range 60 {
		a, b = append(a, float64(i%7)), append(b, float64(i%7)+1)
	}
	if p := RankSum(a, b); p > .02 || p != RankSum(a, b) {
		t.Errorf("p = %v", p)
	}
	if s := RankShift(a, b, .05); s.Estimate != 1 || s.Low > 1 || s.High < 1 || math.IsInf(s.Low, 0) {
		t.Errorf("shift %+v, want 1", s)
	}
}
