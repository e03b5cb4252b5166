package report

import (
	"strings"
	"unicode/utf8"
)

// A table has columns as wide as their cells. Those after the first number are
// aligned to the right.
type table struct {
	rows  [][]string
	right []bool // by column
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// widths returns the widths of the columns.
func (t *table) widths() []int {
	w := make([]int, len(t.right))
	for _, r := range t.rows {
		for i, cell := range r {
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

const columnGap = "  "

// width returns the width of the whole table.
func (t *table) width() int {
	sum := 0
	for _, w := range t.widths() {
		if w > 0 {
			sum += w + len(columnGap)
		}
	}
	return max(0, sum-len(columnGap))
}

// lines are the rows. paint may color a cell once it has its width; columns
// that are empty in all rows are left out.
func (t *table) lines(paint func(row, column int, cell string) string) (all []string) {
	widths := t.widths()
	for y, r := range t.rows {
		var cells []string
		for x, cell := range r {
			if widths[x] == 0 {
				continue
			}
			fill := strings.Repeat(" ", widths[x]-utf8.RuneCountInString(cell))
			if t.right[x] {
				cell = fill + cell
				fill = ""
			}
			cells = append(cells, paint(y, x, cell)+fill)
		}
		all = append(all, strings.TrimRight(strings.Join(cells, columnGap), " "))
	}
	return all
}

// wrap breaks a paragraph at blanks, into lines of at most width characters
// where its words allow it. It goes on a line that has so many already; lines
// after the first begin with indent.
func wrap(text string, before, width int, indent string) string {
	var b strings.Builder
	at := before
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
