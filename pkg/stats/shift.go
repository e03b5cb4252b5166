package stats

import (
	"math"
	"slices"

	mathstats "github.com/aclements/go-moremath/stats"
)

// A Design is the number of runs in a comparison.
type Design struct {
	A, B   int // runs of each side
	Paired bool
}

// Pairs returns the design of n pairs.
func Pairs(n int) Design { return Design{n, n, true} }

// Sides returns the design of two independent samples.
func Sides(a, b int) Design { return Design{a, b, false} }

// SmallestP returns the smallest possible two-sided p-value of the design.
func (d Design) SmallestP() float64 {
	if d.A <= 0 || d.B <= 0 {
		return 1
	}
	if d.Paired {
		return math.Min(1, math.Ldexp(2, -d.A))
	}
	return math.Min(1, 2/timesDivisions(1, d.A, d.B))
}

// timesDivisions multiplies by the number of ways to divide values into a and b of them.
func timesDivisions(ways float64, a, b int) float64 {
	for i := 1; i <= a; i++ {
		ways *= float64(b+i) / float64(i)
	}
	return ways
}

// count returns the number of differences between runs, or of means of two of them.
func (d Design) count() int {
	if d.Paired {
		return d.A * (d.A + 1) / 2
	}
	return d.A * d.B
}

// cut returns how many of the ordered differences are outside, on either side, of an interval of
// level 1 - alpha or more. It also returns the exact level of that interval. An interval with no
// difference outside has no bounds, and its level is 1.
func (d Design) cut(alpha float64) (outside int, level float64) {
	cdf := d.cdf()
	// At most outside-1 differences on one side are beyond zero.
	for outside+1 <= d.count()/2 && cdf(outside) <= alpha/2*(1+1e-9) {
		outside++
	}
	if outside == 0 {
		return 0, 1
	}
	return outside, 1 - 2*cdf(outside-1)
}

// cdf returns the probability, if nothing differs, that at most the given number of differences are
// positive.
func (d Design) cdf() func(int) float64 {
	switch {
	case d.Paired:
		ranks := make([]int, d.A)
		for i := range ranks {
			ranks[i] = i + 1
		}
		p := signedRanks(ranks)
		return func(n int) float64 { return tail(p, n) }
	case max(d.A, d.B) <= exactU:
		u := mathstats.UDist{N1: d.A, N2: d.B}
		return func(n int) float64 { return u.CDF(float64(n)) }
	}
	n, m := float64(d.A), float64(d.B)
	normal := mathstats.NormalDist{Mu: n * m / 2, Sigma: math.Sqrt(n * m * (n + m + 1) / 12)}
	return func(n int) float64 { return normal.CDF(float64(n) + .5) }
}

// A Shift is the estimated difference between two samples.
type Shift struct {
	Estimate  float64 // of Hodges and Lehmann
	Low, High float64 // interval; infinite if there are too few runs
	Level     float64 // the exact level of the interval, if no values are tied
}

// RankShift estimates how far b is above a: the median of the differences between a value of b and
// one of a. The interval, of at least level 1 - alpha, belongs to the Mann-Whitney test. Samples of
// more than 50 values use the normal approximation for its ends.
func RankShift(a, b []float64, alpha float64) Shift {
	return shift(pairwise(a, b), Sides(len(a), len(b)), alpha)
}

// pairwise returns how far each value of b is above each of a.
func pairwise(a, b []float64) []float64 {
	all := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			all = append(all, y-x)
		}
	}
	return all
}

// PairedShift estimates how far the differences of pairs are above zero: the median of the means of
// any two of them, including each with itself. The interval, of at least level 1 - alpha, belongs
// to the signed-rank test.
func PairedShift(differences []float64, alpha float64) Shift {
	return shift(walsh(differences), Pairs(len(differences)), alpha)
}

// walsh returns the means of any two values, including each with itself.
func walsh(values []float64) []float64 {
	all := make([]float64, 0, len(values)*(len(values)+1)/2)
	for i, x := range values {
		for _, y := range values[i:] {
			all = append(all, x/2+y/2)
		}
	}
	return all
}

func shift(all []float64, d Design, alpha float64) Shift {
	if len(all) == 0 {
		return Shift{math.NaN(), math.Inf(-1), math.Inf(1), 1}
	}
	slices.Sort(all)
	s := Shift{Estimate: Median(all), Low: math.Inf(-1), High: math.Inf(1)}
	var outside int
	outside, s.Level = d.cut(alpha)
	if outside > 0 {
		s.Low, s.High = all[outside-1], all[len(all)-outside]
	}
	return s
}

// Median returns the median of sorted values.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// MedianInterval returns the interval of the population median, from a sample of sorted values, at
// a level of at least confidence. It returns false if there are too few values: a level of 95 %
// needs six.
func MedianInterval(sorted []float64, confidence float64) (low, high float64, ok bool) {
	n := len(sorted)
	binomial := mathstats.BinomialDist{N: n, P: .5}
	outside := 0
	for outside < n/2 && binomial.CDF(float64(outside)) <= (1-confidence)/2*(1+1e-9) {
		outside++
	}
	if outside == 0 {
		return 0, 0, false
	}
	return sorted[outside-1], sorted[n-outside], true
}
