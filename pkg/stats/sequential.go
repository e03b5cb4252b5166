package stats

import "math/bits"

// MaxSequential is the max number of pairs for which Sequential computes levels. The work doubles
// with each pair.
const MaxSequential = 20

// Sequential returns levels for a signed-rank test that is repeated after the given numbers of
// pairs, the looks, until it is significant. The test at a look is significant if its p-value is at
// most the level of the look. If nothing differs, the chance that any of the looks is significant
// is at most alpha, exactly, for any continuous distribution of the values. A level of 0 means that
// no p-value at that look could be small enough.
//
// Up to a look the test may spend as large a share of alpha as there are pairs so far. What the
// steps of the exact distribution leave over remains for later looks.
func Sequential(looks []int, alpha float64) []float64 {
	if len(looks) == 0 {
		return nil
	}
	levels := make([]float64, len(looks))
	last := looks[len(looks)-1]
	if last > MaxSequential || looks[0] < 1 {
		return levels
	}
	// The state after n pairs says which of them, ordered by absolute difference, are positive. At
	// first all states are equally likely.
	n := looks[0]
	states := make([]float64, 1<<n)
	for i := range states {
		states[i] = 1 / float64(len(states))
	}
	spent := 0.0
	for i, look := range looks {
		for ; n < look; n++ {
			states = addPair(states, n)
		}
		limit := alpha * float64(look) / float64(last) * (1 + 1e-12)
		critical := criticalValue(states, n, limit-spent)
		spent += reject(states, n, critical)
		levels[i] = signedRankP(n, critical)
	}
	return levels
}

// addPair returns the distribution of states after one more pair. Its absolute difference has any
// rank among the others with equal probability, and either sign with equal probability.
func addPair(states []float64, n int) []float64 {
	next := make([]float64, 2*len(states))
	for state, p := range states {
		if p == 0 {
			continue
		}
		p /= float64(2 * (n + 1))
		for place := range n + 1 {
			low := state & (1<<place - 1)
			at := low | (state&^low)<<1
			next[at] += p
			next[at|1<<place] += p
		}
	}
	return next
}

// statistic returns the smaller of the sums of ranks with either sign.
func statistic(state, n int) int {
	w := 0
	for s := uint(state); s != 0; s &= s - 1 {
		w += bits.TrailingZeros(s) + 1
	}
	return min(w, n*(n+1)/2-w)
}

// criticalValue returns the largest value of the statistic for which the states up to it have a
// probability of at most limit, or -1 if there is none.
func criticalValue(states []float64, n int, limit float64) int {
	by := make([]float64, n*(n+1)/4+1)
	for state, p := range states {
		by[statistic(state, n)] += p
	}
	critical, sum := -1, 0.0
	for value, p := range by {
		if sum += p; sum > limit {
			break
		}
		critical = value
	}
	return critical
}

// reject removes the significant states and returns their probability.
func reject(states []float64, n, critical int) (sum float64) {
	for state, p := range states {
		if statistic(state, n) <= critical {
			sum += p
			states[state] = 0
		}
	}
	return sum
}

// signedRankP returns the two-sided p-value of the statistic, or 0 for a statistic of -1.
func signedRankP(n, statistic int) float64 {
	if statistic < 0 {
		return 0
	}
	return 2 * Pairs(n).cdf()(statistic)
}
