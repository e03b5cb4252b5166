package trial

import (
	"slices"
	"testing"
)

// Both sides are there as often in every block, in mirror order.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pairs  int
		turned bool
		want   []int
	}{{2, false, []int{0, 1, 1, 0}}, {2, true, []int{1, 0, 0, 1}}, {1, false, []int{0, 1}}, {1, true, []int{1, 0}}} {
		if got := block(test.pairs, test.turned); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// What chance decides is not the same for all blocks.
func TestCoin(t *testing.T) {
	t.Parallel()
	heads := 0
	for range 1000 {
		if coin() {
			heads++
		}
	}
	if heads < 300 || heads > 700 {
		t.Errorf("%d of 1000", heads)
	}
}
