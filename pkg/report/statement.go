package report

import (
	"slices"

	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

func statementOf(number int, warmup bool) oplog.Statement {
	return oplog.Statement{Number: uint16(number), WarmUp: warmup}
}

// PrintStatement prints the line above the figures of a statement. It prints nothing for number 0, which is no statement.
func PrintStatement(p *printer.Printer, number int, warmup bool, text string) {
	if number == 0 {
		return
	}
	line := human.UpperFirst(statementOf(number, warmup).Title())
	if text != "" {
		line += ": " + human.OneLine(text)
	}
	p.Line("%s", p.Bold(line))
}

// scripted reports whether the report is about the statements of a script.
func scripted(r *results.Report) bool {
	return slices.ContainsFunc(r.Operations, func(o results.Operation) bool { return o.Statement > 0 })
}
