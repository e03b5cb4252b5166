//go:build race

package compare

// The race detector makes the simulation, which runs in one goroutine, ten times as slow.
const comparisons = 200
