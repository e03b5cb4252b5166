package comparison

import (
	"fmt"
	"math"
	"strings"

	"warp/pkg/sweep"
)

// Size of the curve in characters.
const (
	curveHeight = 8
	curveWidth  = 72
)

// curve draws the first metric along an axis, a line for each value of the other one.
func (p *textPrinter) curve(r *sweep.Result) {
	axis := sweep.LineAxis(r.Axes)
	lines := sweep.Lines(r.Axes, axis)
	largest := r.Largest(0)
	n := len(r.Axes[axis].Values)
	if n < 3 || largest == 0 || len(lines) > 9 {
		return
	}
	label := MetricText(r.Metrics[0].Unit, largest, largest)
	left := len([]rune(label)) + 1
	width := min(curveWidth, p.MaxWidth()-left-1)
	if width < 2*n {
		return
	}
	grid := make([][]rune, curveHeight)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", width))
	}
	place := func(k int, y float64) (int, int) {
		return k * (width - 1) / (n - 1), curveHeight - 1 - int(math.Round(y/largest*(curveHeight-1)))
	}
	for i, line := range lines {
		mark := '•'
		if len(lines) > 1 {
			mark = rune('1' + i)
		}
		draw(grid, r, line, place, mark)
	}
	p.Line("")
	for i, row := range grid {
		at := ""
		switch i {
		case 0:
			at = label
		case curveHeight - 1:
			at = "0"
		}
		p.Line("%*s│%s", left-1, at, strings.TrimRight(string(row), " "))
	}
	values := r.Axes[axis].Values
	first, last := values[0], values[n-1]
	gap := max(1, width-len([]rune(first))-len([]rune(last)))
	p.Line("%*s└%s", left-1, "", strings.Repeat("─", width))
	p.Line("%*s%s%s%s", left, "", first, strings.Repeat(" ", gap), last)
	note := r.Metrics[0].Name + " over " + r.Axes[axis].Flag
	if len(lines) > 1 {
		var names []string
		for i, v := range r.Axes[1-axis].Values {
			names = append(names, fmt.Sprintf("%d: %s", i+1, v))
		}
		note += "; " + r.Axes[1-axis].Flag + " " + strings.Join(names, ", ")
	}
	p.Sentences(note)
}

// draw draws a line of points.
func draw(grid [][]rune, r *sweep.Result, line []int, place func(int, float64) (int, int), mark rune) {
	before := -1
	for k, point := range line {
		c := &r.Points[point].Cells[0]
		if !c.Known() {
			before = -1
			continue
		}
		x, y := place(k, c.Median)
		if before >= 0 {
			fromX, fromY := place(before, r.Points[line[before]].Cells[0].Median)
			for at := fromX + 1; at < x; at++ {
				row := fromY + int(math.Round(float64(y-fromY)*float64(at-fromX)/float64(x-fromX)))
				if grid[row][at] == ' ' {
					grid[row][at] = '·'
				}
			}
		}
		grid[y][x] = mark
		before = k
	}
}
