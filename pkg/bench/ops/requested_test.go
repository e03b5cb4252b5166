package ops

import (
	"math"
	"testing"

	"warp/pkg/generator"
)

// Requests that choose among objects by popularity have the sizes that they should have, though the most popular object alone
// gets a sixth of them.
func TestRequestedSizes(t *testing.T) {
	t.Parallel()
	const n, requests, seed = 200, 50_000, 7
	shares := []SizeShare{{1000, 50}, {4000, 30}, {9000, 20}}
	for _, exponent := range []float64{0, 0.7, 1} {
		sizes := requestedSizes(shares, exponent, seed, n)
		zipf, popular := generator.NewZipf(exponent), newPopularity(exponent, seed, n)
		random := generator.Rand(1, "test", 0)
		got := map[int64]float64{}
		for range requests {
			place := zipf.Rank(random, n)
			if popular != nil {
				place = popular.places.At(place)
			}
			got[sizes[place]]++
		}
		for _, s := range shares {
			if share := got[s.Size] / requests; math.Abs(share-s.Weight/100) > 0.02 {
				t.Errorf("exponent %g: %.3f of the requests have %d bytes, want %.3f", exponent, share, s.Size, s.Weight/100)
			}
		}
	}
}
