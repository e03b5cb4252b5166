package reports

import (
	"io"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/compare"
	"warp/pkg/report/comparison"
	"warp/pkg/report/page"
	"warp/pkg/sweep"
)

// SweepFlags choose how a sweep is shown.
type SweepFlags struct {
	Choices       []compare.Choice
	show          string
	markdown, csv bool
	html          HTMLFlag
}

// Flags returns the flags.
func (f *SweepFlags) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "show", Destination: &f.show, DefaultText: "throughput,p99", Usage: "show these `METRICS`, such as p50,GET.p99"},
		&cli.BoolFlag{Name: "markdown", Destination: &f.markdown, Usage: "write the report as Markdown, for a ticket"},
		&cli.BoolFlag{Name: "csv", Destination: &f.csv, Usage: "write the figures as comma-separated values"},
		f.html.Flag(),
	}
}

// Check checks the flags. json says that the result is to be JSON.
func (f *SweepFlags) Check(json bool) (err error) {
	if f.markdown && f.csv || json && (f.markdown || f.csv) {
		return exit.Usagef("--json, --markdown and --csv cannot be combined")
	}
	if f.show != "" {
		if f.Choices, err = compare.ParseChoices(f.show); err != nil {
			return exit.Usagef("--show: %w", err)
		}
	}
	return f.html.Ready()
}

// ShowSweep writes the result of a sweep, and its page if --html is given.
func ShowSweep(inv *command.Invocation, r *sweep.Result, f *SweepFlags) error {
	text := func(w io.Writer) error {
		switch {
		case f.markdown:
			return comparison.SweepMarkdown(w, r)
		case f.csv:
			return comparison.SweepCSV(w, r)
		}
		return comparison.SweepText(w, r, TextOptions(inv, false))
	}
	return Show(inv, r, text, &f.html, func(page.Options) *page.Page { return page.Sweep(r) })
}

// ShowSweepComparison writes the comparison of two sweeps, and its page if --html is given.
func ShowSweepComparison(inv *command.Invocation, c *sweep.Comparison, html *HTMLFlag) error {
	text := func(w io.Writer) error { return comparison.SweepComparisonText(w, c, TextOptions(inv, false)) }
	return Show(inv, c, text, html, func(page.Options) *page.Page { return page.SweepComparison(c) })
}
