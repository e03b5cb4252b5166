package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// With one look, Sequential is the usual test.
func TestSequentialOfOneLook(t *testing.T) {
	t.Parallel()
	levels := Sequential([]int{8}, .05)
	if cdf := Pairs(8).cdf(); !near(levels[0], 2*cdf(3)) {
		t.Errorf("level %v, want %v", levels[0], 2*cdf(3))
	}
}

func TestSequentialSkipsLooks(t *testing.T) {
	t.Parallel()
	levels := Sequential([]int{6, 12, 18}, .01)
	if levels[0] != 0 { // at least 1/32
		t.Errorf("six pairs have level %v", levels[0])
	}
	if levels[1] == 0 || levels[2] < levels[1] {
		t.Errorf("levels %v", levels)
	}
	for _, looks := range [][]int{nil, {0, 4}, {8, MaxSequential + 1}} {
		for _, level := range Sequential(looks, .05) {
			if level != 0 {
				t.Errorf("looks %v have levels %v", looks, level)
			}
		}
	}
}

// Counting all signs and all orders of pairs gives the same levels.
func TestSequentialByCounting(t *testing.T) {
	t.Parallel()
	looks, alpha := []int{3, 4, 6}, .4
	levels := Sequential(looks, alpha)
	rejected, all := 0, 0
	orders(6, func(sizes []int) {
		for signs := range 1 << 6 {
			all++
			for i, look := range looks {
				d := make([]float64, look)
				for k := range d {
					d[k] = float64(sizes[k] + 1)
					if signs>>k&1 == 0 {
						d[k] = -d[k]
					}
				}
				if levels[i] > 0 && SignedRank(d) <= levels[i]*(1+1e-9) {
					rejected++
					break
				}
			}
		}
	})
	share := float64(rejected) / float64(all)
	if share > alpha || share < alpha-.1 {
		t.Errorf("levels %v reject %v of all, want nearly %v", levels, share, alpha)
	}
}

// orders calls each with all orders of n numbers from 0.
func orders(n int, each func([]int)) {
	order := make([]int, 0, n)
	var next func(used int)
	next = func(used int) {
		if len(order) == n {
			each(order)
			return
		}
		for i := range n {
			if used>>i&1 == 0 {
				order = append(order, i)
				next(used | 1<<i)
				order = order[:len(order)-1]
			}
		}
	}
	next(0)
}

// The levels of the default looks keep their promise for any continuous distribution.
func TestSequentialLevels(t *testing.T) {
	t.Parallel()
	const comparisons = 20_000
	looks := []int{8, 12, 16}
	for _, alpha := range []float64{.05, .05 / 3} {
		levels := Sequential(looks, alpha)
		random := rand.New(rand.NewPCG(3, 4))
		rejected := 0
		for range comparisons {
			d := make([]float64, 16)
			for i := range d {
				d[i] = random.NormFloat64() * math.Exp(random.NormFloat64())
			}
			for i, look := range looks {
				if SignedRank(d[:look]) <= levels[i] {
					rejected++
					break
				}
			}
		}
		deviation := math.Sqrt(alpha * (1 - alpha) / comparisons)
		if share := float64(rejected) / comparisons; share > alpha+3*deviation || share < .7*alpha {
			t.Errorf("alpha %.4f: levels %v reject %.4f of all", alpha, levels, share)
		}
	}
}
