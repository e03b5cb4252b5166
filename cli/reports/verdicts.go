package reports

import (
	"io"
	"time"

	"warp/cli/command"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/comparison"
	"warp/pkg/report/page"
	"warp/pkg/report/printer"
)

// A Showing says how comparisons are shown.
type Showing struct {
	HTML    *HTMLFlag
	Verbose bool                 // also metrics without a verdict, where there are several comparisons
	CSV     []report.RecordedRun // instead of the text; nil = text
}

// ShowVerdicts writes the results of comparisons of sets, and their page if --html is given.
func ShowVerdicts(inv *command.Invocation, c *compare.Comparisons, how Showing) error {
	text := func(w io.Writer) error {
		if how.CSV != nil {
			return report.RunsCSV(w, how.CSV)
		}
		return comparison.SetsText(w, c, TextOptions(inv, how.Verbose))
	}
	return Show(inv, c.Document(), text, how.HTML, func(page.Options) *page.Page { return page.Comparisons(c) })
}

func TextOptions(inv *command.Invocation, verbose bool) printer.Options {
	return printer.Options{Color: inv.OutColor, Location: time.Local, Verbose: verbose, Width: inv.OutWidth()}
}
