package svg

import (
	"fmt"
	"strings"
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

const gridRow = 30 // height

// SVG draws the grid.
func (g *Grid) SVG() string {
	var b strings.Builder
	height := gridRow * (len(g.Rows) + 1)
	fmt.Fprintf(&b, `<svg class="chart" width="100%%" height="%d" font-family="system-ui,sans-serif" font-size="12" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc><g class="labels" fill="%s">`,
		height, g.ID, g.ID, g.ID, text(g.Title), g.ID, text(g.Desc), mutedText)
	n := float64(len(g.Columns) + 1)
	for k, name := range g.Columns {
		fmt.Fprintf(&b, `<text x="%s" y="%d" text-anchor="middle">%s</text>`, percent((float64(k)+1.5)/n), gridRow-10, text(name))
	}
	for i, name := range g.Rows {
		fmt.Fprintf(&b, `<text x="%s" y="%d" dx="-8" text-anchor="end">%s</text>`, percent(1/n), gridRow*(i+2)-11, text(name))
	}
	b.WriteString(`</g>`)
	for i, row := range g.Cells {
		for k, c := range row {
			if c.Share >= 0 {
				fmt.Fprintf(&b, `<rect class="cell" fill="%s" fill-opacity="%.2f" x="%s" y="%d" width="%s" height="%d"/>`,
					heatColor, .05+.4*min(1, c.Share), percent((float64(k)+1)/n), gridRow*(i+1), percent(1/n), gridRow)
			}
			fmt.Fprintf(&b, `<text class="marked" fill="%s" x="%s" y="%d" text-anchor="middle">%s</text>`, textColor, percent((float64(k)+1.5)/n), gridRow*(i+2)-11, text(c.Text))
		}
	}
	b.WriteString(`</svg>`)
	return b.String()
}
