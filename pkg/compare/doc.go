// Package compare compares runs: Reports says what changed from one run to another, and Judge decides
// whether one set of runs differs from another by more than chance.
//
// The unit of comparison is the run, not the request. Requests within one run
// depend on each other, so even many of them say little about the next run. A
// metric is one number per run, and a comparison is about the ratios of these
// numbers.
package compare
