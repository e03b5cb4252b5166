// Package results has the results of a run as plain data: a [Report] with its groups, operations,
// hosts and segments. pkg/aggregate fills it in, and other packages print, compare, judge and
// export it. The package also has what can be computed from a report alone, such as named metrics,
// and reads saved reports.
package results
