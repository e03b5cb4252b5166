package svg

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Distances in pixels between baselines of labels and lines. Letters reach 10 pixels above their baseline.
const (
	aboveLine   = -4 // from a line to the baseline of a label above it
	belowLine   = 12
	labelHeight = 13 // between the baselines of two labels
	letters     = 10
)

// A label is the name of a line at its last point. Places are in pixels from the top.
type label struct {
	line        *Line
	x           string
	y, baseline float64
}

// drawLabels writes the names of the lines at their ends.
func (c *Chart) drawLabels(b *strings.Builder, height int) {
	for _, l := range c.labels(float64(height)) {
		fmt.Fprintf(b, `<text class="f%d" fill="%s" text-anchor="end" x="%s" y="%s">%s</text>`,
			l.line.Color, Color(l.line.Color), l.x, percent(l.baseline/float64(height)), text(l.line.Label))
	}
}

// labels returns the names of the lines, from top to bottom. Those at the same x do not overlap.
func (c *Chart) labels(height float64) (all []label) {
	at := make([]*label, len(c.Lines))
	for i := range c.Lines {
		l := &c.Lines[i]
		k := len(l.Y) - 1
		for k >= 0 && math.IsNaN(l.Y[k]) {
			k--
		}
		if k >= 0 {
			y := height * (1 - c.YScale.at(l.Y[k]))
			at[i] = &label{line: l, x: percent(c.XScale.at(c.X[k])), y: y, baseline: y + aboveLine}
		}
	}
	for _, band := range c.Bands {
		placeInBand(at[band.High], at[band.Low])
	}
	for _, l := range slices.Backward(at) { // of two equal values, the later line has the higher percentile
		if l != nil {
			all = append(all, *l)
		}
	}
	slices.SortStableFunc(all, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	spread(all, height)
	return all
}

// placeInBand places the labels of a band's edges inside of it. If there is no room, they are on its other sides.
func placeInBand(high, low *label) {
	switch {
	case high == nil || low == nil:
	case low.y+aboveLine-(high.y+belowLine) >= labelHeight:
		high.baseline, low.baseline = high.y+belowLine, low.y+aboveLine
	default:
		high.baseline, low.baseline = high.y+aboveLine, low.y+belowLine
	}
}

// spread moves labels that overlap up, or down where there is no room above.
func spread(all []label, height float64) {
	below := map[string]float64{} // the highest baseline so far, by x
	for i := range slices.Backward(all) {
		l := &all[i]
		limit, ok := below[l.x]
		if !ok {
			limit = height + aboveLine + labelHeight
		}
		l.baseline = min(l.baseline, limit-labelHeight)
		below[l.x] = l.baseline
	}
	above := map[string]float64{}
	for i := range all {
		l := &all[i]
		limit, ok := above[l.x]
		if !ok {
			limit = letters - labelHeight
		}
		l.baseline = max(l.baseline, limit+labelHeight)
		above[l.x] = l.baseline
	}
}
