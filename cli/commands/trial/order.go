package trial

import (
	"math/rand/v2"
	"slices"
)

// balanced returns rounds in which each of the sides runs once, in an order that a drift and what a run leaves behind affect alike:
// every second round mirrors the one before it, each side has each place in a round equally often, and it directly follows
// each of the other sides equally often (Williams' design). Two sides a and b have the rounds ab and ba.
func balanced(sides []int) (rounds [][]int) {
	n := len(sides)
	// 0, 1, n-1, 2, n-2, …: all differences of neighbours are different.
	first := make([]int, n)
	for i := range first {
		if first[i] = (i + 1) / 2; i%2 == 0 {
			first[i] = (n - i/2) % n
		}
	}
	shifts := n
	if n%2 == 0 { // the mirrored rounds are the other half of the shifts
		shifts = n / 2
	}
	for shift := range shifts {
		round := make([]int, n)
		for i, x := range first {
			round[i] = sides[(x+shift)%n]
		}
		mirrored := slices.Clone(round)
		slices.Reverse(mirrored)
		rounds = append(rounds, round, mirrored)
	}
	return rounds
}

// block returns the rounds of one block. Chance decides which side has which part in each block, because an effect that recurs,
// such as every fourth run, would otherwise affect one side only.
func block(sides int) [][]int { return balanced(rand.Perm(sides)) }
