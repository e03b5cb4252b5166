// Package stats has the statistics for reports and comparisons. It does not depend on logs.
//
// github.com/aclements/go-moremath, which benchstat uses, has the exact distribution of U, also
// with ties. Its test doubles the smaller of two values of U instead of the smaller tail, which
// differs if ties make the distribution asymmetric. It has neither the signed-rank test nor
// intervals. golang.org/x/perf/benchmath judges by U only, and gonum/stat has no rank tests.
package stats
