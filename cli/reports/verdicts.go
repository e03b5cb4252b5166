package reports

import (
	"io"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/page"
)

// ShowVerdicts writes the results of comparisons of sets, and their page if --html is given. verbose shows metrics without
// a verdict, too, where there are several comparisons.
func ShowVerdicts(inv *command.Invocation, c *compare.Comparisons, html *HTMLFlag, verbose bool) error {
	inv.Hide.Strings(c)
	err := inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return report.ComparisonsJSON(w, c)
		}
		return report.ComparisonsText(w, c, TextOptions(inv, verbose))
	})
	return exit.Join(err, SavePage(inv, html, func(page.Options) *page.Page { return page.Comparisons(c) }))
}

func TextOptions(inv *command.Invocation, verbose bool) report.TextOptions {
	return report.TextOptions{Color: inv.OutColor, Location: time.Local, Verbose: verbose, Width: inv.OutWidth()}
}
