package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	mathstats "github.com/aclements/go-moremath/stats"
)

const (
	simulations = 2000 // simulated comparisons to estimate the power
	maxSimulate = 24   // runs per side; above that the large-sample formula is as good
	maxRuns     = 1000 // nobody makes more runs
)

// A Planner computes which differences comparisons can detect. It caches its results. The zero
// value is ready for use.
type Planner struct{ known map[question]float64 }

type question struct {
	Design
	alpha, power float64
}

// Detectable returns the smallest shift that the design detects with the given power.
func (p *Planner) Detectable(d Design, alpha, power float64) float64 {
	q := question{d, alpha, power}
	if x, ok := p.known[q]; ok {
		return x
	}
	if p.known == nil {
		p.known = map[question]float64{}
	}
	p.known[q] = d.detectable(alpha, power)
	return p.known[q]
}

// detectable returns the shift that a comparison of this design detects in the given share of all
// cases, at level alpha. Its unit is the standard deviation of a run (of the difference of a pair),
// for normally distributed values. It is infinite if no shift is large enough.
func (d Design) detectable(alpha, power float64) float64 {
	if d.A <= 0 || d.B <= 0 {
		return math.Inf(1)
	}
	if max(d.A, d.B) > maxSimulate {
		return d.asymptotic(alpha, power)
	}
	outside, _ := d.cut(alpha)
	if outside == 0 {
		return math.Inf(1)
	}
	// A comparison of shifted values detects the shift if the lower end of its interval is above
	// zero. So simulating without a shift yields the required size.
	random := rand.New(rand.NewPCG(19, 1945))
	needed := make([]float64, simulations)
	for i := range needed {
		all := d.draw(random)
		slices.Sort(all)
		needed[i] = -all[outside-1]
	}
	slices.Sort(needed)
	return needed[int(math.Ceil(power*simulations))-1]
}

// draw returns the sorted differences that intervals are taken from, for standard normal values.
func (d Design) draw(random *rand.Rand) []float64 {
	sample := func(n int) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = random.NormFloat64()
		}
		return s
	}
	if d.Paired {
		return walsh(sample(d.A))
	}
	a, b := sample(d.A), sample(d.B)
	return pairwise(a, b)
}

// asymptotic is Detectable for many runs. It uses a z-test, for which normal values make each run
// count pi/3 times as much.
func (d Design) asymptotic(alpha, power float64) float64 {
	quantile := mathstats.InvCDF(mathstats.StdNormal)
	per := 1/float64(d.A) + 1/float64(d.B)
	if d.Paired {
		per = 1 / float64(d.A)
	}
	return (quantile(1-alpha/2) + quantile(power)) * math.Sqrt(math.Pi/3*per)
}

// RunsNeeded returns how many runs per side, or pairs, detect the shift in the given share of
// cases, or false if that is more than 1000. The shift is in the unit of Detectable.
func (p *Planner) RunsNeeded(shift float64, paired bool, alpha, power float64) (n int, ok bool) {
	enough := func(n int) bool { return p.Detectable(Design{n, n, paired}, alpha, power) <= shift }
	if !(shift > 0) || !enough(maxRuns) {
		return 0, false
	}
	low, high := 0, maxRuns
	for high-low > 1 {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
