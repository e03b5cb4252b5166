package stats

import (
	"math"
	"slices"

	mathstats "github.com/aclements/go-moremath/stats"
)

// A Stratum has the values of two samples that were measured at the same point.
type Stratum struct{ A, B []float64 }

// exactStrata is the number of values up to which the distribution of the ranks of strata is exact.
const exactStrata = 100

// Stratified compares a and b within strata: it returns the two-sided p-value of whether the values of b are shifted
// against the values of a by the same amount everywhere, and the shift with its interval of level 1 - alpha.
//
// It is the test of Hodges and Lehmann: all values are ranked together after the mean of their stratum was subtracted. The
// distribution of the ranks of b is over all ways to divide each stratum. With a single stratum it is the Mann-Whitney
// U test, and with one value of each sample in every stratum it is Wilcoxon's signed-rank test. With more than 100
// values the distribution is taken to be normal. Strata without values of both samples are ignored.
func Stratified(strata []Stratum, alpha float64) (p float64, s Shift) {
	var used []Stratum
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range strata {
		if len(x.A) == 0 || len(x.B) == 0 {
			continue
		}
		used = append(used, x)
		low = min(low, slices.Min(x.B)-slices.Max(x.A))
		high = max(high, slices.Max(x.B)-slices.Min(x.A))
	}
	if len(used) == 0 {
		return 1, Shift{math.NaN(), math.Inf(-1), math.Inf(1), 1}
	}
	p, _ = alignedRanks(used, 0)
	margin := high - low + 1e-9
	above := func(d float64) bool { _, side := alignedRanks(used, d); return side > 0 }
	s = Shift{Low: math.Inf(-1), High: math.Inf(1), Level: 1 - alpha}
	s.Estimate = (cross(low-margin, high+margin, above) + cross(low-margin, high+margin, func(d float64) bool { _, side := alignedRanks(used, d); return side >= 0 })) / 2
	rejected := func(d float64) bool { p, _ := alignedRanks(used, d); return p <= alpha*(1+1e-9) }
	if rejected(low - margin) {
		s.Low = cross(low-margin, s.Estimate, rejected)
	}
	if rejected(high + margin) {
		s.High = cross(s.Estimate, high+margin, func(d float64) bool { return !rejected(d) })
	}
	return p, s
}

// cross returns the place between low and high up to which holds is true.
func cross(low, high float64, holds func(float64) bool) float64 {
	for range 45 {
		if middle := low/2 + high/2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low/2 + high/2
}

// alignedRanks returns the p-value of the strata if b is shifted by d, and whether the ranks of b are above (1) or below (-1)
// their expectation.
func alignedRanks(strata []Stratum, d float64) (p float64, side int) {
	var values []float64
	for _, s := range strata {
		at := len(values)
		values = append(values, s.A...)
		for _, x := range s.B {
			values = append(values, x-d)
		}
		mean := 0.0
		for _, x := range values[at:] {
			mean += x / float64(len(values)-at)
		}
		for i := range values[at:] {
			values[at+i] = rounded(values[at+i] - mean)
		}
	}
	ranks, _ := midranks(values)
	twice := doubled(ranks)
	sum, expected, variance := 0, 0.0, 0.0
	var parts [][]int // the doubled ranks of each stratum, the ranks of a first
	at := 0
	for _, s := range strata {
		n, m := len(s.A), len(s.B)
		part := twice[at : at+n+m]
		at += n + m
		parts = append(parts, part)
		mean, squares := 0.0, 0.0
		for i, r := range part {
			if i >= n {
				sum += r
			}
			mean += float64(r) / float64(n+m)
		}
		for _, r := range part {
			squares += (float64(r) - mean) * (float64(r) - mean)
		}
		expected += float64(m) * mean
		variance += float64(n*m) / float64((n+m)*(n+m-1)) * squares
	}
	switch {
	case float64(sum) > expected+1e-6:
		side = 1
	case float64(sum) < expected-1e-6:
		side = -1
	}
	if variance == 0 {
		return 1, side
	}
	if len(values) > exactStrata {
		z := math.Max(0, math.Abs(float64(sum)-expected)-1) / math.Sqrt(variance)
		return min(1, 2*mathstats.StdNormal.CDF(-z)), side
	}
	return rankSums(strata, parts, sum), side
}

// rounded keeps values that are equal in exact arithmetic tied.
func rounded(x float64) float64 {
	const digits = 1e12
	return math.Round(x*digits) / digits
}

// rankSums returns the two-sided p-value of the sum of b's doubled ranks, over all ways to divide each stratum.
func rankSums(strata []Stratum, parts [][]int, sum int) float64 {
	all := []float64{1} // probability of each sum, over the strata so far
	for i, part := range parts {
		one := subsetSums(part, len(strata[i].B))
		next := make([]float64, len(all)+len(one)-1)
		for a, p := range all {
			if p == 0 {
				continue
			}
			for b, q := range one {
				next[a+b] += p * q
			}
		}
		all = next
	}
	low, high := 0.0, 0.0
	for s, p := range all {
		if s <= sum {
			low += p
		}
		if s >= sum {
			high += p
		}
	}
	return min(1, 2*min(low, high))
}

// subsetSums returns the distribution of the sum of m of the ranks.
func subsetSums(ranks []int, m int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, m+1) // by number of ranks, and their sum
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := m; k > 0; k-- {
			for s := total; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	count := 0.0
	for _, w := range ways[m] {
		count += w
	}
	for s := range ways[m] {
		ways[m][s] /= count
	}
	return ways[m]
}

// SmallestStratifiedP returns the smallest possible p-value of Stratified.
func SmallestStratifiedP(strata []Stratum) float64 {
	ways := 1.0
	for _, s := range strata {
		if len(s.A) == 0 || len(s.B) == 0 {
			continue
		}
		ways = timesDivisions(ways, len(s.A), len(s.B))
	}
	return math.Min(1, 2/ways)
}
