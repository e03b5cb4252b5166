package generator

import "testing"

func TestRandIsRepeatable(t *testing.T) {
	t.Parallel()
	// These numbers must not change between versions and platforms.
	if got, want := Rand(1, "order", 2).Uint64(), uint64(0xcb607d499ac1eaae); got != want {
		t.Errorf("first number of stream (1, order, 2) is %#x, want %#x", got, want)
	}
}

func TestRandStreamsDiffer(t *testing.T) {
	t.Parallel()
	type stream struct {
		seed    uint64
		purpose string
		index   int
	}
	seen := map[uint64]stream{}
	for seed := range uint64(8) {
		for _, purpose := range []string{"", "order", "sizes"} {
			for index := range 100 {
				s := stream{seed, purpose, index}
				first := Rand(s.seed, s.purpose, s.index).Uint64()
				if other, ok := seen[first]; ok {
					t.Fatalf("streams %v and %v start alike", s, other)
				}
				seen[first] = s
			}
		}
	}
}
