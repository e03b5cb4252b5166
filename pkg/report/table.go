package report

import (
	"strings"
	"unicode/utf8"
)

// A table has columns as wide as their widest cell. Columns after the first one with numbers are
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

// lines renders the rows. paint may color a cell after it is padded. Columns that are empty in all
// rows are omitted.
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

// wrap breaks a paragraph at blanks into lines of at most width characters, if its words allow it.
// The first line continues after the given number of characters; the others begin with indent.
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
