// Package columns lays out tables of a limited width. It leaves out the least
// important columns.
package columns

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Column is a column of a table. The first one is aligned to the left, the others to
// the right.
type Column struct {
	Group string // written over neighbouring columns of the same group
	Title string
	Drop  int      // columns with the highest number are left out first; those with 0 never
	Cells []string // as many as in all other columns
}

// New returns a column with a cell for each row.
func New[T any](title string, drop int, rows []T, cell func(*T) string) Column {
	c := Column{Title: title, Drop: drop}
	for i := range rows {
		c.Cells = append(c.Cells, cell(&rows[i]))
	}
	return c
}

// AddRow adds a row. Columns for which there is no cell get an empty one.
func AddRow(table []Column, cells ...string) {
	for i := range table {
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		table[i].Cells = append(table[i].Cells, cell)
	}
}

// gap separates columns.
const gap = "  "

// Fit returns the line of groups if there are any, the line of titles, and the rows, with as
// many columns as fit into the width. If even the columns that are never left out are too wide,
// Fit shortens the first one, and then cuts lines. paint, if not nil, colors a cell that has
// its final width.
func Fit(table []Column, width int, paint func(row int, title, cell string) string) []string {
	table = slices.Clone(table)
	for over(table, width) > 0 {
		last := slices.MaxFunc(table, func(a, b Column) int { return a.Drop - b.Drop }).Drop
		if last == 0 {
			shorten(table, width)
			break
		}
		table = slices.DeleteFunc(table, func(c Column) bool { return c.Drop == last })
	}
	lines := make([]string, 1+len(table[0].Cells))
	cuts := over(table, width) > 0
	for i, c := range table {
		n := c.width()
		for k := range lines {
			cell := c.Title
			if k > 0 {
				cell = c.Cells[k-1]
			}
			fill := strings.Repeat(" ", n-utf8.RuneCountInString(cell))
			if i == 0 {
				cell += fill
			} else {
				cell = fill + cell
				lines[k] += gap
			}
			if k > 0 && paint != nil && !cuts {
				cell = paint(k-1, c.Title, cell)
			}
			lines[k] += cell
		}
	}
	if names := groups(table); names != "" {
		lines = slices.Insert(lines, 0, names)
	}
	if cuts {
		for k := range lines {
			lines[k] = Cut(lines[k], width)
		}
	}
	return lines
}

// groups returns the line of the groups' names, "" if there are none.
func groups(table []Column) string {
	line, named := "", false
	for i := 0; i < len(table); {
		group, room := table[i].Group, -len(gap)
		for ; i < len(table) && table[i].Group == group; i++ {
			room += table[i].width() + len(gap)
		}
		if line != "" {
			line += gap
		}
		name := Cut(group, room)
		rest := room - utf8.RuneCountInString(name)
		switch {
		case group == "":
			line += strings.Repeat(" ", room)
		case rest < 2:
			line += name + strings.Repeat(" ", rest)
		default:
			line += name + " " + strings.Repeat("─", rest-1)
		}
		named = named || group != ""
	}
	if !named {
		return ""
	}
	return line
}

// Cut shortens a line to the width.
func Cut(line string, width int) string {
	if r := []rune(line); len(r) > width {
		return string(r[:max(0, width-1)]) + "…"
	}
	return line
}

func (c *Column) width() int {
	n := utf8.RuneCountInString(c.Title)
	for _, s := range c.Cells {
		n = max(n, utf8.RuneCountInString(s))
	}
	return n
}

// over returns how many characters a table is too wide.
func over(table []Column, width int) int {
	sum := -len(gap)
	for i := range table {
		sum += table[i].width() + len(gap)
	}
	return sum - width
}

// minName is the min number of characters that a cell of the first column keeps.
const minName = 6

func shorten(table []Column, width int) {
	first := &table[0]
	n := max(minName, first.width()-over(table, width))
	first.Title, first.Cells = Cut(first.Title, n), slices.Clone(first.Cells)
	for i, s := range first.Cells {
		first.Cells[i] = Cut(s, n)
	}
}

// A Part is a part of a line.
type Part struct {
	Text string // "" = left out
	Drop int    // parts with the highest number are left out first; those with 0 never
}

// Line joins as many of the parts as fit into the width, in their order.
func Line(parts []Part, width int) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Text == "" })
	for {
		var texts []string
		last := 0
		for _, p := range parts {
			texts, last = append(texts, p.Text), max(last, p.Drop)
		}
		line := strings.Join(texts, gap)
		if utf8.RuneCountInString(line) <= width || last == 0 {
			return Cut(line, width)
		}
		parts = slices.DeleteFunc(parts, func(p Part) bool { return p.Drop == last })
	}
}
