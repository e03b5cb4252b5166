// Package compare compares runs: Reports says what changed from one run to another, NewHistory when runs changed over
// time, and Judge and JudgeSets decide
// whether sets of runs differ by more than chance.
//
// The unit of comparison is the run, not the request. Requests within one run
// depend on each other, so even many of them say little about the next run. A
// metric is one number per run, and a comparison is about the ratios of these
// numbers.
package compare
