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

// ShowVerdicts writes the result of a comparison of sets, and its page if --html is given.
func ShowVerdicts(inv *command.Invocation, v *compare.Verdicts, html *HTMLFlag) error {
	inv.Hide.Strings(v)
	err := inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return report.VerdictsJSON(w, v)
		}
		return report.VerdictsText(w, v, TextOptions(inv, false))
	})
	return exit.Join(err, SavePage(inv, html, func(page.Options) *page.Page { return page.Verdicts(v) }))
}

func TextOptions(inv *command.Invocation, verbose bool) report.TextOptions {
	return report.TextOptions{Color: inv.OutColor, Location: time.Local, Verbose: verbose, Width: inv.OutWidth()}
}
