// Package comparison formats what several runs say together, as text and CSV: comparisons of two runs, of sets of runs and of
// sweeps, sweeps, and histories.
package comparison

import "warp/pkg/report/printer"

// A textPrinter prints the text of one comparison.
type textPrinter struct{ printer.Printer }

func newPrinter(o printer.Options) *textPrinter { return &textPrinter{printer.Printer{Options: o}} }
