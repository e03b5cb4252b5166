package generator

import "math/bits"

// A Permutation is an order of the numbers below N that needs no memory. It is a function, so any
// number of workers can follow it concurrently with only a shared counter.
type Permutation struct {
	n    uint64
	half int // bits of each half of the network
	keys [4]uint64
}

// NewPermutation returns permutation number index of n elements under a seed.
func NewPermutation(seed uint64, index uint64, n int) Permutation {
	p := Permutation{n: uint64(n), half: max(1, (bits.Len64(uint64(max(n, 1)-1))+1)/2)}
	for i := range p.keys {
		p.keys[i] = mix(derive(seed, "permutation", index) + golden*uint64(i))
	}
	return p
}

// At returns the number at position i, which is below n. The network permutes the next power of
// four. Results outside the range go through it again until they are inside, which takes at most
// four rounds on average.
func (p *Permutation) At(i int) int {
	x := uint64(i)
	for {
		x = p.round(x)
		if x < p.n {
			return int(x)
		}
	}
}

func (p *Permutation) round(x uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	left, right := x>>p.half, x&mask
	for _, key := range p.keys {
		left, right = right, left^mix(key^right)&mask
	}
	return left<<p.half | right
}
