package svg

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Grid draws a value for each pair of a row and a column, the larger the more opaque.
type Grid struct {
	ID, Title, Desc string
	Rows, Columns   []string // their names
	Cells           [][]Cell // by row and column
}

// A Cell is a value with its text. Share is its place between nothing and the largest value, from 0 to 1; below 0, there is no
// value.
type Cell struct {
	Text  string
	Share float64
}

// Sizes of a grid in pixels. Letters are as wide as digits of the font at most, on average.
const (
	gridRow     = 30 // height
	gridLetter  = 7
	gridPadding = 16
	gridMin     = 56 // width of a column
)

// widths returns the widths of the names of rows and of each column.
func (g *Grid) widths() (names, column int) {
	column = gridMin
	for _, name := range g.Rows {
		names = max(names, gridLetter*utf8.RuneCountInString(name)+gridPadding)
	}
	for _, name := range g.Columns {
		column = max(column, gridLetter*utf8.RuneCountInString(name)+gridPadding)
	}
	for _, row := range g.Cells {
		for _, c := range row {
			column = max(column, gridLetter*utf8.RuneCountInString(c.Text)+gridPadding)
		}
	}
	return names, column
}

// SVG draws the grid, as wide as its texts need.
func (g *Grid) SVG() string {
	var b strings.Builder
	names, column := g.widths()
	width, height := names+column*len(g.Columns), gridRow*(len(g.Rows)+1)
	fmt.Fprintf(&b, `<svg class="chart" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui,sans-serif" font-size="12" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc><g class="labels" fill="%s">`,
		width, height, width, height, g.ID, g.ID, g.ID, text(g.Title), g.ID, text(g.Desc), mutedText)
	for k, name := range g.Columns {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, names+column*k+column/2, gridRow-10, text(name))
	}
	for i, name := range g.Rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, names-gridPadding/2, gridRow*(i+2)-11, text(name))
	}
	b.WriteString(`</g>`)
	for i, row := range g.Cells {
		for k, c := range row {
			if c.Share >= 0 {
				fmt.Fprintf(&b, `<rect class="cell" fill="%s" fill-opacity="%.2f" x="%d" y="%d" width="%d" height="%d"/>`,
					heatColor, .05+.4*min(1, c.Share), names+column*k, gridRow*(i+1), column, gridRow)
			}
			fmt.Fprintf(&b, `<text class="marked" fill="%s" x="%d" y="%d" text-anchor="middle">%s</text>`, textColor, names+column*k+column/2, gridRow*(i+2)-11, text(c.Text))
		}
	}
	b.WriteString(`</svg>`)
	return b.String()
}
