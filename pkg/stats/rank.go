package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	mathstats "github.com/aclements/go-moremath/stats"
)

// Up to these sample sizes the distribution of U is computed exactly. The cost grows with the
// fourth power of the size.
const (
	exactU     = 50
	exactUTies = 25
)

// permutations is the number of permutations for larger samples.
const permutations = 99_999

// RankSum returns the two-sided p-value of the Mann-Whitney U test of whether a and b come from the
// same distribution. It uses the exact distribution of U over all ways to divide the ranks between
// them, so ties need no correction. Samples of more than 50 values (25 with ties) are permuted
// 99,999 times instead, always in the same ways.
func RankSum(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	ranks, ties := midranks(slices.Concat(a, b))
	if len(ties) == 1 {
		return 1 // all values are the same
	}
	sum := 0.0
	for _, r := range ranks[:len(a)] {
		sum += r
	}
	limit := exactU
	if len(ties) < len(ranks) {
		limit = exactUTies
	}
	if max(len(a), len(b)) > limit {
		return permute(ranks, len(a), sum)
	}
	n, m := float64(len(a)), float64(len(b))
	u := sum - n*(n+1)/2
	// With ties the distribution need not be symmetric, so compute both tails.
	low := mathstats.UDist{N1: len(a), N2: len(b), T: ties}.CDF(u)
	high := mathstats.UDist{N1: len(b), N2: len(a), T: ties}.CDF(n*m - u)
	return min(1, 2*min(low, high))
}

// midranks returns the ranks of the values from 1, in which equal values share their mean rank, and
// how often each value occurs, from the smallest.
func midranks(values []float64) (ranks []float64, ties []int) {
	order := ascending(values)
	ranks = make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = float64(i+1+j) / 2
		}
		ties = append(ties, j-i)
		i = j
	}
	return ranks, ties
}

// ascending returns the indices of the values, from the smallest value, and of equal ones from the first.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(values[i], values[j]), i-j) })
	return order
}

// doubled returns twice each rank, which is an integer.
func doubled(ranks []float64) []int {
	twice := make([]int, len(ranks))
	for i, r := range ranks {
		twice[i] = int(2 * r)
	}
	return twice
}

// permute returns the p-value of the sum of n of the ranks, by drawing n of them repeatedly.
func permute(ranks []float64, n int, sum float64) float64 {
	random := rand.New(rand.NewPCG(19, 1947))
	pool := slices.Clone(ranks)
	low, high := 1, 1 // the observation counts as one of the ways
	for range permutations {
		drawn := 0.0
		for i := range n {
			j := i + random.IntN(len(pool)-i)
			pool[i], pool[j] = pool[j], pool[i]
			drawn += pool[i]
		}
		if drawn <= sum {
			low++
		}
		if drawn >= sum {
			high++
		}
	}
	return min(1, 2*float64(min(low, high))/(permutations+1))
}

// SignedRank returns the two-sided p-value of Wilcoxon's signed-rank test of whether the
// differences are symmetric around zero. It uses the exact distribution over all signs, so ties
// need no correction. It ignores differences of zero.
func SignedRank(differences []float64) float64 {
	var size []float64
	var positive []bool
	for _, d := range differences {
		if d != 0 {
			size, positive = append(size, math.Abs(d)), append(positive, d > 0)
		}
	}
	if len(size) == 0 {
		return 1
	}
	ranks, _ := midranks(size)
	twice := doubled(ranks)
	total, w := 0, 0
	for i, r := range twice {
		total += r
		if positive[i] {
			w += r
		}
	}
	// The distribution is symmetric, because all signs may be inverted.
	return min(1, 2*tail(signedRanks(twice), min(w, total-w)))
}

// signedRanks returns the distribution of the sum of the ranks with positive sign, if both signs
// are equally likely.
func signedRanks(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	p := make([]float64, total+1)
	p[0] = 1
	reached := 0
	for _, r := range ranks {
		reached += r
		for s := reached; s >= 0; s-- {
			before := 0.0
			if s >= r {
				before = p[s-r]
			}
			p[s] = (p[s] + before) / 2
		}
	}
	return p
}

// tail returns the probability of values up to limit.
func tail(p []float64, limit int) (sum float64) {
	for _, x := range p[:limit+1] {
		sum += x
	}
	return sum
}
