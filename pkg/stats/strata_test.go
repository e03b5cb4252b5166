package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// With one stratum the test equals the Mann–Whitney test, with pairs the Wilcoxon test.
func TestStratifiedLimits(t *testing.T) {
	t.Parallel()
	a, b := []float64{5.1, 4.8, 6.0, 5.5, 5.2}, []float64{6.1, 5.9, 6.4, 5.4, 7.0, 6.6}
	p, s := Stratified([]Stratum{{a, b}}, .05)
	if want := RankSum(a, b); math.Abs(p-want) > 1e-12 {
		t.Errorf("p is %v, want %v", p, want)
	}
	want := RankShift(a, b, .05)
	if math.Abs(s.Estimate-want.Estimate) > 1e-9 || math.Abs(s.Low-want.Low) > 1e-9 || math.Abs(s.High-want.High) > 1e-9 {
		t.Errorf("%+v, want %+v", s, want)
	}
	var pairs []Stratum
	differences := []float64{.3, -.1, .5, .2, .7, .4, -.2, .6}
	for i, d := range differences {
		base := 3 * float64(i)
		pairs = append(pairs, Stratum{[]float64{base}, []float64{base + d}})
	}
	p, s = Stratified(pairs, .05)
	if want := SignedRank(differences); math.Abs(p-want) > 1e-12 {
		t.Errorf("p of pairs is %v, want %v", p, want)
	}
	if want := PairedShift(differences, .05); math.Abs(s.Estimate-want.Estimate) > .03 || s.Low < want.Low-.06 || s.High > want.High+.06 {
		t.Errorf("%+v, want %+v", s, want)
	}
	if p := SmallestStratifiedP(pairs); p != 2.0/256 {
		t.Error(p)
	}
	if p, s := Stratified(nil, .05); p != 1 || !math.IsNaN(s.Estimate) {
		t.Error(p, s)
	}
	if p, _ := Stratified([]Stratum{{[]float64{1, 1}, []float64{1, 1}}}, .05); p != 1 {
		t.Errorf("equal values: %v", p)
	}
}

// Large differences between strata do not hide a small one between the samples, and without one there are no more false
// alarms than the level says.
func TestStratifiedSimulated(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 60
	for _, test := range []struct {
		repeats  int
		shift    float64
		min, max float64
	}{{2, 0, 0, .12}, {2, .02, .85, 1}, {7, 0, 0, .12}, {7, .01, .85, 1}} {
		found, covered := 0, 0
		for range rounds {
			var strata []Stratum
			for k := range 8 {
				var s Stratum
				for range test.repeats {
					s.A = append(s.A, float64(k)+.015*random.NormFloat64())
					s.B = append(s.B, float64(k)+.015*random.NormFloat64()+test.shift)
				}
				strata = append(strata, s)
			}
			p, s := Stratified(strata, .05)
			if p <= .05 {
				found++
			}
			if s.Low <= test.shift && test.shift <= s.High {
				covered++
			}
		}
		if share := float64(found) / rounds; share < test.min || share > test.max {
			t.Errorf("%+v: found in %v", test, share)
		}
		if share := float64(covered) / rounds; share < .88 {
			t.Errorf("%+v: intervals cover it in %v", test, share)
		}
	}
}
