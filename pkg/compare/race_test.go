//go:build race

package compare

// The race detector makes the simulation ten times as slow, and it has one goroutine.
const comparisons = 200
