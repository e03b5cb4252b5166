// Package aggregate turns the rows of an op log into the results of a run.
//
// A [Summary] counts rows as they come, by part of the run. Summaries of several
// clients merge, and [Summary.Report] computes the figures. [Analyze] does the
// same for a log; one that does not say what its window is takes a survey first.
package aggregate
