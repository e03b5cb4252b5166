package oplog

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows may be lost, doubled and in any order.
func TestNumberCheck(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(400)
		var numbers []uint64
		for i := range n {
			for copies := max(rng.IntN(12)-8, 1) - rng.IntN(2)*rng.IntN(2); copies > 0; copies-- {
				numbers = append(numbers, uint64(i))
			}
		}
		switch rng.IntN(3) {
		case 0:
			rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		case 1:
			slices.Reverse(numbers)
		}
		var c numberCheck
		seen := map[uint64]bool{}
		for _, x := range numbers {
			c.add(x)
			seen[x] = true
		}
		if len(numbers) == 0 {
			continue
		}
		missing, repeated := c.result(uint64(n))
		if int(missing) != n-len(seen) || int(repeated) != len(numbers)-len(seen) {
			t.Fatalf("seed %d: %d missing and %d repeated, want %d and %d in %v", seed, missing, repeated, n-len(seen), len(numbers)-len(seen), numbers)
		}
	}
}

// What is kept of a log in no order is bounded, and the difference is still found.
func TestNumberCheckIsBounded(t *testing.T) {
	t.Parallel()
	const n = 3 * maxGaps
	for lost, want := range map[int]uint64{0: 0, 5: 5, n: n} {
		var c numberCheck
		for i := lost; i < n; i++ {
			c.add(uint64(2 * i))
		}
		for i := range n {
			c.add(uint64(2*i + 1))
		}
		if missing, repeated := c.result(0); missing != want || repeated != 0 || len(c.gaps) > maxGaps {
			t.Errorf("%d lost: %d missing, %d repeated, %d gaps", lost, missing, repeated, len(c.gaps))
		}
	}
}
