package cli

import (
	"io"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/page"
)

// showVerdicts writes the result of a comparison of sets, and its page if --html is given.
func showVerdicts(inv *command.Invocation, v *compare.Verdicts, html *htmlFlag) error {
	inv.Hide.Strings(v)
	err := inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return report.VerdictsJSON(w, v)
		}
		return report.VerdictsText(w, v, textOptions(inv, false))
	})
	return exit.Join(err, savePage(inv, html, func(page.Options) *page.Page { return page.Verdicts(v) }))
}

func textOptions(inv *command.Invocation, verbose bool) report.TextOptions {
	return report.TextOptions{Color: inv.OutColor, Location: time.Local, Verbose: verbose, Width: inv.OutWidth()}
}
