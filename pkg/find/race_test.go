//go:build race

package find

// The race detector makes the simulation, which runs in one goroutine, ten times as slow.
const searches = 1
