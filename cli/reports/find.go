package reports

import (
	"io"

	"warp/cli/command"
	"warp/pkg/find"
	"warp/pkg/report"
	"warp/pkg/report/page"
)

// ShowFind writes the result of a search, and its page if --html is given.
func ShowFind(inv *command.Invocation, r *find.Report, html *HTMLFlag) error {
	text := func(w io.Writer) error { return report.FindText(w, r, TextOptions(inv, false)) }
	return Show(inv, r, text, html, func(page.Options) *page.Page { return page.Find(r) })
}

// ShowFindChange writes the comparison of two searches, and its page if --html is given.
func ShowFindChange(inv *command.Invocation, c *find.Change, html *HTMLFlag) error {
	text := func(w io.Writer) error { return report.FindChangeText(w, c, TextOptions(inv, false)) }
	return Show(inv, c, text, html, func(page.Options) *page.Page { return page.FindChange(c) })
}
