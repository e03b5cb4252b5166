package reports

import (
	"io"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/find"
	"warp/pkg/report"
	"warp/pkg/report/page"
)

// ShowFind writes the result of a search, and its page if --html is given.
func ShowFind(inv *command.Invocation, r *find.Report, html *HTMLFlag) error {
	inv.Hide.Strings(r)
	err := inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return report.FindJSON(w, r)
		}
		return report.FindText(w, r, TextOptions(inv, false))
	})
	return exit.Join(err, SavePage(inv, html, func(page.Options) *page.Page { return page.Find(r) }))
}

// ShowFindChange writes the comparison of two searches.
func ShowFindChange(inv *command.Invocation, c *find.Change) error {
	inv.Hide.Strings(c)
	return inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return report.FindChangeJSON(w, c)
		}
		return report.FindChangeText(w, c, TextOptions(inv, false))
	})
}
