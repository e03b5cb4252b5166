package trial

import (
	"fmt"
	"slices"
	"testing"

	"warp/pkg/compare"
)

// Two sides run in mirror order.
func TestBalancedPairs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sides []int
		want  string
	}{{[]int{0, 1}, "[[0 1] [1 0]]"}, {[]int{1, 0}, "[[1 0] [0 1]]"}} {
		if got := fmt.Sprint(balanced(test.sides)); got != test.want {
			t.Errorf("%v: %s, want %s", test.sides, got, test.want)
		}
	}
}

// In a block each side has each place, and follows each other side, equally often. Each two rounds are balanced against a drift.
func TestBalanced(t *testing.T) {
	t.Parallel()
	for n := 2; n <= compare.MaxSets; n++ {
		sides := make([]int, n)
		for i := range sides {
			sides[i] = n - 1 - i
		}
		rounds := balanced(sides)
		places, follows := map[[2]int]int{}, map[[2]int]int{}
		for i, round := range rounds {
			if s := slices.Sorted(slices.Values(round)); s[0] != 0 || s[n-1] != n-1 || len(slices.Compact(s)) != n {
				t.Errorf("%d sides: not all run once in %v", n, round)
			}
			if mirrored := slices.Clone(rounds[i-i%2]); i%2 == 1 {
				if slices.Reverse(mirrored); !slices.Equal(mirrored, round) {
					t.Errorf("%d sides: %v does not mirror the round before it", n, round)
				}
			}
			for place, side := range round {
				places[[2]int{side, place}]++
				if place > 0 {
					follows[[2]int{round[place-1], side}]++
				}
			}
		}
		equallyOften(t, fmt.Sprintf("%d sides, places", n), places, n*n)
		equallyOften(t, fmt.Sprintf("%d sides, neighbours", n), follows, n*(n-1))
	}
}

func equallyOften(t *testing.T, what string, counts map[[2]int]int, want int) {
	t.Helper()
	if len(counts) != want {
		t.Errorf("%s: %d of %d", what, len(counts), want)
	}
	often := 0
	for key, n := range counts {
		if often == 0 {
			often = n
		}
		if n != often {
			t.Errorf("%s: %v occurs %d times, another one %d times", what, key, n, often)
		}
	}
}

// What chance decides is not the same for all blocks.
func TestBlocksDiffer(t *testing.T) {
	t.Parallel()
	const blocks = 1000
	for _, sides := range []int{2, 3, 8} {
		first := make([]int, sides)
		for range blocks {
			first[block(sides)[0][0]]++
		}
		for side, n := range first {
			if expected := blocks / sides; n < expected/2 || n > 2*expected {
				t.Errorf("of %d sides, side %d is first in %d of %d blocks", sides, side, n, blocks)
			}
		}
	}
}
