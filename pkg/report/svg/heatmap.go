package svg

import (
	"fmt"
	"math"
	"strings"

	"warp/internal/human"
)

const (
	heatColumns = 120 // max; if there are more segments, neighbours share a column
	heatCells   = 40  // max of a column; if there are more latencies, neighbours share a cell
	heatRows    = 8   // for each doubling of time
	heatLevels  = 4
)

// A HeatMap draws how many requests took how long over time: the more, the more opaque.
type HeatMap struct {
	ID, Title string
	Bounds    []float64  // of the latencies, in ms
	Counts    [][]uint64 // by segment and latency
	From, To  float64    // the time of the segments, in seconds
	Length    float64    // length of the time axis, in seconds
	Marks     []Mark

	Lowest, Highest float64 // of the scale, in ms; 0 = of the bounds
}

// SVG draws the map. desc describes it in words.
func (h *HeatMap) SVG() (drawn, desc string) {
	h.widen()
	columns, highest := h.columns()
	ys, height := h.scale()
	desc = fmt.Sprintf("The darker, the more requests started in that time and took so long: up to %s.", human.Choose(highest, "1 request", Number(float64(highest))+" requests"))
	xs := Seconds(h.Length)
	from, to := xs.at(math.Max(0, h.From)), xs.at(h.To)
	var s strings.Builder
	width := columnWidth(len(columns), height)
	frame(&s, h.ID, h.Title, desc, 180, &xs, &ys, "", func() {
		fmt.Fprintf(&s, `<svg x="%s" width="%s" height="100%%" viewBox="%d 0 %d %d" preserveAspectRatio="none" shape-rendering="crispEdges"><g class="heat" fill="none" stroke="%s" stroke-width="%d" stroke-opacity=".22">`,
			percent(from), percent(math.Max(0, to-from)), -width/2, width*len(columns), height, heatColor, width)
		// A level is drawn over those below it, so that it is darker.
		for level := 1; level <= heatLevels; level++ {
			fmt.Fprintf(&s, `<path d="%s"/>`, h.path(columns, width, highest, &ys, height, level))
		}
		s.WriteString(`</g></svg>`)
		drawMarks(&s, h.Marks, &xs)
	})
	return s.String(), desc
}

// columnWidth returns the width of a column in units of the picture, an even number. The picture is about five times as wide
// as high, so a unit is about as wide as high: PDFium leaves out lines whose two scales differ much.
func columnWidth(columns, height int) int {
	return 2 * max(1, (5*height+columns)/(2*columns))
}

// widen joins neighbouring latencies if there are too many.
func (h *HeatMap) widen() {
	per := (len(h.Bounds) + heatCells - 1) / heatCells
	if per == 1 {
		return
	}
	var bounds []float64
	for i := 0; i < len(h.Bounds)-1; i += per {
		bounds = append(bounds, h.Bounds[i])
	}
	h.Bounds = append(bounds, h.Bounds[len(h.Bounds)-1])
	counts := make([][]uint64, len(h.Counts))
	for i, row := range h.Counts {
		counts[i] = make([]uint64, (len(row)+per-1)/per)
		for k, n := range row {
			counts[i][k/per] += n
		}
	}
	h.Counts = counts
}

// scale returns the logarithmic scale of y, and the number of rows of the picture.
func (h *HeatMap) scale() (s Scale, height int) {
	shortest, longest := h.Bounds[0], h.Bounds[len(h.Bounds)-1]
	if shortest <= 0 {
		shortest = h.Bounds[1] / 2
	}
	if h.Lowest > 0 {
		shortest = min(shortest, h.Lowest)
	}
	longest = max(longest, h.Highest)
	s = Scale{log: true, min: shortest, max: longest}
	for e := math.Floor(math.Log10(shortest)); e <= math.Ceil(math.Log10(longest)); e++ {
		s.tick(math.Pow(10, e), tickMillis(math.Pow(10, e)))
	}
	return s, max(1, int(math.Ceil(heatRows*math.Log2(longest/shortest))))
}

// columns returns the counts of each segment, or of several neighbours, and the highest of them.
func (h *HeatMap) columns() (columns [][]uint64, highest uint64) {
	per := (len(h.Counts) + heatColumns - 1) / heatColumns
	columns = make([][]uint64, (len(h.Counts)+per-1)/per)
	for i, counts := range h.Counts {
		column := &columns[i/per]
		for k, n := range counts {
			if k >= len(*column) {
				*column = append(*column, 0)
			}
			(*column)[k] += n
			highest = max(highest, (*column)[k])
		}
	}
	return columns, highest
}

// level returns the shade of a count, 0 for none.
func level(n, highest uint64) int {
	if n == 0 {
		return 0
	}
	return min(heatLevels, int(math.Ceil(heatLevels*math.Log1p(float64(n))/math.Log1p(float64(highest)))))
}

// path draws a vertical line as wide as a column wherever the neighbouring counts of a column reach a level.
func (h *HeatMap) path(columns [][]uint64, width int, highest uint64, s *Scale, height, reached int) string {
	var b strings.Builder
	px, py := 0, 0
	row := func(bucket int) int { return whole(1-s.at(h.Bounds[bucket]), float64(height)) }
	for x, counts := range columns {
		for top := min(len(counts), len(h.Bounds)-1); top > 0; {
			bottom := top
			for bottom > 0 && level(counts[bottom-1], highest) >= reached {
				bottom--
			}
			if bottom < top {
				y, end := row(top), row(bottom)
				fmt.Fprintf(&b, "m%d", (x-px)*width)
				if y >= py {
					b.WriteByte(' ')
				}
				fmt.Fprintf(&b, "%dv%d", y-py, end-y)
				px, py = x, end
			}
			top = bottom - 1
		}
	}
	return b.String()
}
