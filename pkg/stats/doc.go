// Package stats has the statistics that reports and comparisons are made of. It
// knows nothing of logs.
//
// github.com/aclements/go-moremath, which benchstat uses, has the exact
// distribution of U, also with ties. Its test doubles the smaller of two values
// of U instead of the smaller tail, which is not the same where ties make the
// distribution lopsided, and it has neither the signed-rank test nor intervals.
// golang.org/x/perf/benchmath judges by U only, and gonum/stat has no rank tests.
package stats
