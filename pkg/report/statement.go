package report

import (
	"slices"

	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

func statementOf(number int, warmup bool) oplog.Statement {
	return oplog.Statement{Number: uint16(number), WarmUp: warmup}
}

// statement is the line above the figures of a statement.
func (p *textPrinter) statement(s oplog.Statement, text string) {
	if s.Number == 0 {
		return
	}
	line := human.UpperFirst(s.Title())
	if text != "" {
		line += ": " + human.OneLine(text)
	}
	p.Line("%s", p.Bold(line))
}

// scripted reports whether the report is about the statements of a script.
func scripted(r *results.Report) bool {
	return slices.ContainsFunc(r.Operations, func(o results.Operation) bool { return o.Statement > 0 })
}
