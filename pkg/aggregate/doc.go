// Package aggregate turns the rows of an op log into the results of a run.
//
// A [Summary] counts rows as they come, by part of the run. Summaries of several clients merge, and
// [Summary.Report] computes the figures. [Analyze] does the same for a log. If the log does not
// contain its window, it first makes a survey of all rows.
package aggregate
