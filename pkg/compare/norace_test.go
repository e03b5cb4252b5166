//go:build !race

package compare

const comparisons = 1000 // simulated comparisons
