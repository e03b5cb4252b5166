package stats

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// TestTally counts fewer, as many and more names than are counted separately, in any order and in
// parts.
func TestTally(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 1))
	for _, names := range []int{1, maxNames, maxNames + 1, 3 * maxNames} {
		var whole Tally
		want := Tally{}
		var parts [3]Tally
		for range 5000 {
			i := rng.IntN(names)
			name := fmt.Sprintf("%03d", i)
			whole.add(name, 1)
			parts[rng.IntN(3)].add(name, 1)
			if i >= maxNames {
				name = ""
			}
			want[name]++
		}
		for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
			var sum Segment
			for _, i := range order {
				sum.merge(&Segment{Failed: parts[i]})
			}
			if !maps.Equal(whole, want) || !maps.Equal(sum.Failed, want) {
				t.Fatalf("%d names: got %v, and %v in pieces, want %v", names, whole, sum.Failed, want)
			}
		}
	}
}
