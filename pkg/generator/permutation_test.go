package generator

import "testing"

func TestPermutationHasEveryNumberOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 4, 5, 7, 16, 17, 64, 65, 1000, 4096, 4097, 100_003} {
		for index := range uint64(3) {
			p := NewPermutation(7, index, n)
			seen := make([]bool, n)
			for i := range n {
				x := p.At(i)
				if seen[x] {
					t.Fatalf("%d of %d is there twice", x, n)
				}
				seen[x] = true
			}
		}
	}
}

// Orders of different passes and seeds have no more in common than by chance.
func TestPermutationsDiffer(t *testing.T) {
	t.Parallel()
	const n = 10_000
	for name, other := range map[string]Permutation{
		"pass": NewPermutation(7, 1, n), "seed": NewPermutation(8, 0, n), "identity": {},
	} {
		p := NewPermutation(7, 0, n)
		same := 0
		for i := range n {
			x := i
			if name != "identity" {
				x = other.At(i)
			}
			if p.At(i) == x {
				same++
			}
		}
		if same > 10 { // one is expected
			t.Errorf("%s: %d of %d in the same place", name, same, n)
		}
	}
}

func BenchmarkPermutation(b *testing.B) {
	p := NewPermutation(1, 0, 100_000)
	i := 0
	for b.Loop() {
		p.At(i % 100_000)
		i++
	}
}
