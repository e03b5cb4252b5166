package sweep

import "math/rand/v2"

// Order returns the order in which the points are measured: all of them in random order, so many times, so that a drift
// affects all points alike. The first one comes once more at the end, so that a drift is seen.
func Order(points, repeats int, seed uint64) []int {
	random := rand.New(rand.NewPCG(seed, 0x7377656570)) // "sweep"
	var order []int
	for range repeats {
		order = append(order, random.Perm(points)...)
	}
	return append(order, order[0])
}
