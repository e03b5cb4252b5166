// Package svg draws charts from plain numbers: lines over time, distributions, heat maps and intervals.
//
// Text keeps its size at any width of the screen, because places along the axes are percentages, and only the lines
// are stretched. Colors and line styles are classes, which the style sheet of the page defines.
package svg

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"warp/internal/human"
)

// The coordinate system of lines is across × down, and is stretched.
const (
	across = 1000
	down   = 250
)

// text escapes untrusted text for HTML.
func text(s string) string { return html.EscapeString(human.Visible(s)) }

func percent(at float64) string {
	return strconv.FormatFloat(math.Round(1e4*at)/100, 'f', -1, 64) + "%"
}

// frame draws axes around what body draws.
func frame(b *strings.Builder, id, title, desc string, height int, xs, ys *Scale, xNote string, body func()) {
	fmt.Fprintf(b, `<svg class="chart" width="100%%" height="%d" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		height, id, id, id, text(title), id, text(desc))
	for _, t := range ys.ticks {
		y := percent(1 - t.at)
		fmt.Fprintf(b, `<line class="grid" x2="100%%" y1="%s" y2="%s"/><text class="y" y="%s">%s</text>`, y, y, y, text(t.label))
	}
	for i, t := range xs.ticks {
		class := "x"
		if i%2 == 1 {
			class = "x odd" // left out on narrow screens
		}
		fmt.Fprintf(b, `<text class="%s" x="%s" y="100%%">%s</text>`, class, percent(t.at), text(t.label))
	}
	body()
	if xNote != "" {
		fmt.Fprintf(b, `<text class="x note" x="50%%" y="100%%">%s</text>`, text(xNote))
	}
	b.WriteString(`</svg>`)
}

// A Mark is an instant at which something was done, in the unit of x.
type Mark struct {
	X    float64
	Text string
}

// drawMarks draws a numbered line for each mark; their texts are below the chart.
func drawMarks(b *strings.Builder, marks []Mark, xs *Scale) {
	for i, m := range marks {
		if at := xs.at(m.X); at >= 0 && at <= 1 {
			fmt.Fprintf(b, `<line class="mark" x1="%s" x2="%s" y1="0" y2="100%%"/><text class="marked" x="%s" y="0" dx="3" dy="11">%d</text>`,
				percent(at), percent(at), percent(at), i+1)
		}
	}
}
