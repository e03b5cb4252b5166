package report

import (
	"slices"

	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// PrintStatement prints the line above the figures of a statement or stage. It prints nothing for number 0, which is neither.
func PrintStatement(p *printer.Printer, part oplog.Statement, text string) {
	if part.Number == 0 {
		return
	}
	p.Line("%s", p.Bold(PartTitle(part, text)))
}

// PartTitle returns the name of a statement or stage, followed by its text if that is known.
func PartTitle(part oplog.Statement, text string) string {
	title := human.UpperFirst(part.Title())
	if text != "" {
		title += ": " + human.OneLine(text)
	}
	return title
}

// scripted reports whether the report is about the statements of a script.
func scripted(r *results.Report) bool {
	return slices.ContainsFunc(r.Operations, func(o results.Operation) bool { return o.Statement > 0 })
}
