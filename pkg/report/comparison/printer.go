// Package comparison formats what several runs say together, as text and CSV: comparisons of two runs, of sets of runs and of
// sweeps, sweeps, and histories.
package comparison

import (
	"github.com/fatih/color"

	"warp/pkg/compare"
	"warp/pkg/report/printer"
)

// A textPrinter prints the text of one comparison.
type textPrinter struct{ printer.Printer }

func newPrinter(o printer.Options) *textPrinter { return &textPrinter{printer.Printer{Options: o}} }

// A verdictTable is a table whose last column has verdicts.
type verdictTable struct {
	*printer.Table
	p        *textPrinter
	verdicts []compare.Verdict // of the rows
}

// newVerdictTable returns a table of numbers and verdicts. The first column has the names of the rows.
func (p *textPrinter) newVerdictTable(head ...string) *verdictTable {
	return &verdictTable{printer.NewTable(head, nil, 1, len(head)-1), p, []compare.Verdict{""}}
}

func (t *verdictTable) add(v compare.Verdict, cells ...string) {
	t.Add(cells...)
	t.verdicts = append(t.verdicts, v)
}

// stack moves each cell of a column into a new row below its own, under the column before it.
func (t *verdictTable) stack(column int) {
	var rows [][]string
	var verdicts []compare.Verdict
	for i, r := range t.Rows {
		rows, verdicts = append(rows, r), append(verdicts, t.verdicts[i])
		if r[column] == "" {
			continue
		}
		below := make([]string, len(r))
		below[column-1], r[column] = r[column], ""
		rows, verdicts = append(rows, below), append(verdicts, "")
	}
	t.Rows, t.verdicts = rows, verdicts
}

// print prints the table with colored verdicts.
func (t *verdictTable) print() {
	t.p.Table(t.Table, func(row, column int, cell string) string {
		switch {
		case row == 0 && column == 0:
			return t.p.Bold(cell)
		case row > 0 && column == len(t.Rows[0])-1:
			return t.p.paintVerdict(t.verdicts[row], cell)
		}
		return cell
	})
}

func (p *textPrinter) paintVerdict(v compare.Verdict, cell string) string {
	switch v {
	case compare.Better:
		return p.Paint(cell, color.FgGreen)
	case compare.Worse:
		return p.Paint(cell, color.FgRed)
	case compare.Withheld, compare.TooFew:
		return p.Paint(cell, color.FgYellow)
	}
	return cell
}

// verdictCell shows a verdict in a table.
func verdictCell(v compare.Verdict) string {
	switch v {
	case compare.Undecided:
		return "~ undecided"
	case compare.NoRatio, compare.TooFew:
		return "-"
	}
	return string(v)
}
