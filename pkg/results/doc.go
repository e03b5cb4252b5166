// Package results has the results of a run as plain data: a [Report] with its
// groups, operations, hosts and segments, which pkg/aggregate fills in and
// other packages print, compare, judge and export. It also has what follows
// from these figures alone, such as named metrics, and reads saved reports.
package results
