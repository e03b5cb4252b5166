// Package svg draws charts from plain numbers: lines over time, distributions, heat maps and intervals.
//
// Text keeps its size at any width of the screen, because places along the axes are percentages, and only the lines
// are stretched. Charts are complete without a style sheet, which a strict content security policy blocks: shapes carry
// their colors. Classes let a style sheet replace these in dark mode.
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

// Colors on white. The style sheet of the page has the same.
const (
	textColor = "#1c2126"
	mutedText = "#57606a"
	gridColor = "#e8ebef"
	heatColor = "#0b3c5d"
)

// Color returns the color of a line.
func Color(slot int) string {
	return [...]string{"#0072b2", "#d55e00", "#007f5f", "#b0508a", "#3d8fc4", "#a87400", "#6b5bb5", "#5c636b"}[slot%8]
}

// stateColor returns the color of something good, bad, or worth a look.
func stateColor(state string) string {
	switch state {
	case "good":
		return "#0b6e4f"
	case "warn":
		return "#8a5000"
	case "bad":
		return "#b3261e"
	}
	return mutedText
}

// Heights of what is below a chart.
const (
	axisHeight = 22
	noteHeight = 18
)

// frame draws axes around what body draws. A style sheet may move the labels of y to the left of the chart.
func frame(b *strings.Builder, id, title, desc string, height int, xs, ys *Scale, xNote string, body func()) {
	below := axisHeight
	if xNote != "" {
		below += noteHeight
	}
	fmt.Fprintf(b, `<svg class="chart" width="100%%" height="%d" overflow="visible" font-family="system-ui,sans-serif" font-size="12" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		height+below, id, id, id, text(title), id, text(desc))
	fmt.Fprintf(b, `<svg class="area" width="100%%" height="%d" overflow="visible"><g class="grid" stroke="%s">`, height, gridColor)
	for _, t := range ys.ticks {
		y := percent(1 - t.at)
		fmt.Fprintf(b, `<line x2="100%%" y1="%s" y2="%s"/>`, y, y)
	}
	fmt.Fprintf(b, `</g><g class="labels" fill="%s">`, mutedText)
	for _, t := range ys.ticks {
		at := "4,-4"
		if t.at > .95 {
			at = "4,12" // below its line, where nothing else is
		}
		fmt.Fprintf(b, `<text class="y" y="%s" transform="translate(%s)">%s</text>`, percent(1-t.at), at, text(t.label))
	}
	for i, t := range xs.ticks {
		class, anchor := "x", "middle"
		if i%2 == 1 {
			class = "x odd" // left out on narrow screens
		}
		switch {
		case t.at < .01:
			anchor = "start"
		case t.at > .99:
			anchor = "end"
		}
		fmt.Fprintf(b, `<text class="%s" x="%s" y="100%%" transform="translate(0,16)" text-anchor="%s">%s</text>`, class, percent(t.at), anchor, text(t.label))
	}
	if xNote != "" {
		fmt.Fprintf(b, `<text x="50%%" y="100%%" transform="translate(0,34)" text-anchor="middle">%s</text>`, text(xNote))
	}
	b.WriteString(`</g>`)
	body()
	b.WriteString(`</svg></svg>`)
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
			fmt.Fprintf(b, `<line class="mark" stroke="%s" stroke-dasharray="2 3" x1="%s" x2="%s" y1="0" y2="100%%"/><text class="marked" fill="%s" font-weight="600" x="%s" y="0" dx="3" dy="11">%d</text>`,
				textColor, percent(at), percent(at), textColor, percent(at), i+1)
		}
	}
}
