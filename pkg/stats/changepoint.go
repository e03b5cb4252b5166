package stats

import (
	"math/rand/v2"
	"slices"
)

// changePermutations is the number of permutations of a test for a change. The first are enough if none of them has a
// distance as large.
const (
	changePermutations = 4999
	firstPermutations  = 999
)

// minStretch is the minimum number of values between changes.
const minStretch = 2

// ChangePoints returns the indices at which the distribution of a series changes, each the first value after a change, by the
// E-divisive means algorithm of Matteson and James: the series is divided where the energy distance of both parts is largest,
// then one of the parts, and so on, as long as a permutation test finds that chance makes a distance as large with a
// probability of at most alpha. Without a change, one is found with that probability. The permutations are always the same.
func ChangePoints(values []float64, alpha float64) (changes []int) {
	random := rand.New(rand.NewPCG(31, 2014))
	ends := []int{0, len(values)}
	for {
		best := bestSplit(values, ends)
		if best.at == 0 || !best.significant(values, ends, alpha, random) {
			return changes
		}
		changes = append(changes, best.at)
		slices.Sort(changes)
		ends = append(ends, best.at)
		slices.Sort(ends)
	}
}

// A division is where a series is divided, and the distance of the parts; its place is 0 if there is none.
type division struct {
	at       int
	distance float64
}

// bestSplit returns the best division of one of the stretches between ends.
func bestSplit(values []float64, ends []int) (best division) {
	for i := 1; i < len(ends); i++ {
		if s := split(values[ends[i-1]:ends[i]]); s.distance > best.distance {
			best = division{ends[i-1] + s.at, s.distance}
		}
	}
	return best
}

// significant reports whether few permutations within the stretches have a distance as large.
func (d division) significant(values []float64, ends []int, alpha float64, random *rand.Rand) bool {
	permuted := slices.Clone(values)
	limit := int(alpha * (changePermutations + 1)) // as many may be as large, with the observation itself
	for large, n := 1, 0; n < changePermutations; n++ {
		for i := 1; i < len(ends); i++ {
			part := permuted[ends[i-1]:ends[i]]
			random.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
		}
		if bestSplit(permuted, ends).distance >= d.distance*(1-1e-9) {
			large++
		}
		if large > limit {
			return false
		}
		if n+1 == firstPermutations && large == 1 {
			break
		}
	}
	return limit > 0
}

// split returns the division of a stretch with the largest energy distance of the parts,
//
//	mn/(m+n) · (2·mean|x-y| - mean|x-x'| - mean|y-y'|),
//
// where x are the values before, and y after. The sums of the distances follow from the sums of the division before.
func split(values []float64) (best division) {
	n := len(values)
	between, before, after := 0.0, 0.0, 0.0 // sums of distances of pairs
	for i := range values {
		for k := range i {
			after += distance(values[i], values[k])
		}
	}
	for at := 1; at < n; at++ {
		moved := values[at-1]
		toBefore, toAfter := 0.0, 0.0
		for _, x := range values[:at-1] {
			toBefore += distance(moved, x)
		}
		for _, x := range values[at:] {
			toAfter += distance(moved, x)
		}
		between += toAfter - toBefore
		before += toBefore
		after -= toAfter
		if at < minStretch || n-at < minStretch {
			continue
		}
		a, b := float64(at), float64(n-at)
		// The means within a part are over pairs of different values, as in the paper.
		d := a * b / (a + b) * (2*between/(a*b) - 2*before/(a*(a-1)) - 2*after/(b*(b-1)))
		if d > best.distance {
			best = division{at, d}
		}
	}
	return best
}

func distance(a, b float64) float64 { return max(a-b, b-a) }
