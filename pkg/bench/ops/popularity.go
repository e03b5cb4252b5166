package ops

import (
	"math"

	"warp/pkg/bench"
	"warp/pkg/generator"
)

// A popularity chooses objects by a Zipf distribution. A rank belongs to a place in the pool: popular places are spread
// over the pool, and an object that takes the place of another is as popular as that was.
type popularity struct {
	zipf   generator.Zipf
	places generator.Permutation // of ranks below n
	n      int
}

// newPopularity returns the distribution of n objects; nil if the exponent is 0, since all are alike then.
func newPopularity(exponent float64, seed uint64, n int) *popularity {
	if exponent == 0 {
		return nil
	}
	// Passes over a pool use the other permutations of the seed, see order.
	return &popularity{zipf: generator.NewZipf(exponent), places: generator.NewPermutation(seed, math.MaxUint64, n), n: n}
}

// pick chooses one of n objects for the worker's next request, and counts whether it is among the hottest.
func (p *popularity) pick(w *bench.Worker, n int) int {
	if p == nil {
		return w.Rand.IntN(n)
	}
	for {
		rank := p.zipf.Rank(w.Rand, n)
		place := rank
		if rank < p.n {
			place = p.places.At(rank)
		}
		if place < n { // the pool may have become smaller
			w.CountPick(rank < (n+99)/100)
			return place
		}
	}
}
