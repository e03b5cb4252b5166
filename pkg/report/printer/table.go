package printer

import (
	"strings"
	"unicode/utf8"
)

// A Table has columns as wide as their widest cell.
type Table struct {
	Rows [][]string // the first one has the titles

	from, to int // columns that are aligned to the right
}

// NewTable returns a table with a line of titles. The columns from the first number to before the second one contain numbers,
// which are aligned to the right. A nil head is no line.
func NewTable(head []string, rows [][]string, from, to int) *Table {
	t := &Table{from: from, to: to}
	if head != nil {
		t.Add(head...)
	}
	t.Rows = append(t.Rows, rows...)
	return t
}

// Table prints a table. paint, if not nil, may color a cell after it is padded.
func (p *Printer) Table(t *Table, paint func(row, column int, cell string) string) {
	for _, l := range t.Lines(paint) {
		p.Line("%s", l)
	}
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Fit leaves out of all rows one thing after the other, until the table has the width.
func (t *Table) Fit(width int, leave ...func(row []string)) {
	for _, out := range leave {
		if t.Width() <= width {
			return
		}
		for _, r := range t.Rows {
			out(r)
		}
	}
}

// Without returns a function for [Table.Fit] that leaves out columns.
func Without(columns ...int) func(row []string) {
	return func(row []string) {
		for _, c := range columns {
			row[c] = ""
		}
	}
}

// Widths returns the widths of the columns.
func (t *Table) Widths() []int {
	w := make([]int, len(t.Rows[0]))
	for _, r := range t.Rows {
		for i, cell := range r {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

const columnGap = "  "

// Width returns the width of the whole table.
func (t *Table) Width() int {
	sum := 0
	for _, w := range t.Widths() {
		if w > 0 {
			sum += w + len(columnGap)
		}
	}
	return max(0, sum-len(columnGap))
}

// Lines renders the rows. paint, if not nil, may color a cell after it is padded. Columns that are empty in all
// rows are omitted.
func (t *Table) Lines(paint func(row, column int, cell string) string) (all []string) {
	widths := t.Widths()
	for y, r := range t.Rows {
		var cells []string
		for x, cell := range r {
			if widths[x] == 0 {
				continue
			}
			fill := strings.Repeat(" ", widths[x]-utf8.RuneCountInString(cell))
			if x >= t.from && x < t.to {
				cell = fill + cell
				fill = ""
			}
			if paint != nil {
				cell = paint(y, x, cell)
			}
			cells = append(cells, cell+fill)
		}
		all = append(all, strings.TrimRight(strings.Join(cells, columnGap), " "))
	}
	return all
}

// Fold breaks a line at spaces where it would be wider than width; 0 is any width. Unlike human.Wrap, it keeps the spaces between words.
// Further lines begin with indent.
func Fold(line string, width int, indent string) string {
	var b strings.Builder
	rest := []rune(line)
	for width > 0 && len(rest) > width {
		words := len(rest) - len([]rune(strings.TrimLeft(string(rest), " "))) // where they begin
		at := max(width, words)
		for at > words && rest[at] != ' ' {
			at--
		}
		if at == words { // one word is too long
			for at < len(rest) && rest[at] != ' ' {
				at++
			}
			if at == len(rest) {
				break
			}
		}
		b.WriteString(strings.TrimRight(string(rest[:at]), " ") + "\n")
		rest = []rune(indent + strings.TrimLeft(string(rest[at:]), " "))
	}
	return b.String() + string(rest)
}
