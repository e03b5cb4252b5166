// Package compare judges whether one set of runs differs from another.
//
// The run is what is counted: requests within one run depend on each other, so
// that however many of them there are, they say next to nothing about the run
// after it. A metric is one number of a run, and a comparison is about the
// ratios of such numbers.
package compare
