package svg

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Chart has lines over a common x.
type Chart struct {
	ID, Title      string
	Desc           string // for readers who cannot see it
	X              []float64
	XScale, YScale Scale
	XNote          string // the meaning of x
	Lines          []Line
	Bands          []Band
	Marks          []Mark
	Dots           []Dot
	Height         int
	Labels         bool // names at the ends of the lines: of a band's edges inside of it if there is room, of others above them
}

// A Line connects points. It has a gap where y is not a number.
type Line struct {
	Label string
	Color int    // slot of the palette
	Class string // "dash", "thin", or "" for a usual line
	Y     []float64
}

// A Dot is a point that is drawn larger, with a label if there is one.
type Dot struct {
	X, Y  float64
	Label string
	Color int
}

// A Band is the area between two lines.
type Band struct {
	Low, High int // index of lines
	Color     int
}

// step draws a straight line to the next point. It omits the command if the step
// before has the same.
func step(b *strings.Builder, dx, dy int, again bool) {
	if again {
		if dx >= 0 {
			b.WriteByte(' ')
		}
	} else {
		b.WriteByte('l')
	}
	b.WriteString(strconv.Itoa(dx))
	if dy >= 0 {
		b.WriteByte(' ')
	}
	b.WriteString(strconv.Itoa(dy))
}

func whole(at, of float64) int { return int(math.Round(of * math.Min(math.Max(at, -1), 2))) }

// Highest returns the highest value of all lines, at least 0.
func Highest(lines []Line) float64 {
	largest := 0.0
	for _, l := range lines {
		for _, v := range l.Y {
			if v > largest {
				largest = v
			}
		}
	}
	return largest
}

// Union merges sorted lists, for lines with different x in one chart. of has the place in x of each value of each list.
func Union(lists [][]float64) (x []float64, of [][]int) {
	of = make([][]int, len(lists))
	next := make([]int, len(lists))
	for {
		lowest := math.Inf(1)
		for i, l := range lists {
			if next[i] < len(l) {
				lowest = min(lowest, l[next[i]])
			}
		}
		if math.IsInf(lowest, 1) {
			return x, of
		}
		for i, l := range lists {
			if next[i] < len(l) && l[next[i]] <= lowest+1e-6 {
				of[i] = append(of[i], len(x))
				next[i]++
			}
		}
		x = append(x, lowest)
	}
}

// edges reports whether a line is the edge of a band, which draws it.
func (c *Chart) edges(line int) bool {
	return slices.ContainsFunc(c.Bands, func(b Band) bool { return b.Low == line || b.High == line })
}

// SVG draws the chart.
func (c *Chart) SVG() string {
	var b strings.Builder
	height := c.Height
	if height == 0 {
		height = 220
	}
	frame(&b, c.ID, c.Title, c.Desc, height, &c.XScale, &c.YScale, c.XNote, func() {
		fmt.Fprintf(&b, `<svg class="lines" width="100%%" height="100%%" viewBox="0 0 %d %d" preserveAspectRatio="none" fill="none" stroke-width="1.75" stroke-linejoin="round" stroke-linecap="round">`, across, down)
		for _, a := range c.Bands {
			fmt.Fprintf(&b, `<path class="s%d f%d" stroke="%s" stroke-width="1.25" vector-effect="non-scaling-stroke" fill="%s" fill-opacity=".18" d="`, a.Color, a.Color, Color(a.Color), Color(a.Color))
			c.area(&b, c.Lines[a.Low].Y, c.Lines[a.High].Y)
			b.WriteString(`"/>`)
		}
		for i := range c.Lines {
			l := &c.Lines[i]
			if c.edges(i) {
				continue
			}
			fmt.Fprintf(&b, `<path %s vector-effect="non-scaling-stroke" d="`, pen(l.Color, l.Class))
			alone := c.path(&b, l.Y)
			b.WriteString(`"/>`)
			if alone != "" { // the round ends of a line without length
				fmt.Fprintf(&b, `<path class="s%d" stroke="%s" stroke-width="6" vector-effect="non-scaling-stroke" d="%s"/>`, l.Color, Color(l.Color), alone)
			}
		}
		b.WriteString(`</svg>`)
		if c.Labels {
			c.drawLabels(&b, height)
		}
		c.drawDots(&b)
		drawMarks(&b, c.Marks, &c.XScale)
	})
	return b.String()
}

func (c *Chart) drawDots(b *strings.Builder) {
	for _, d := range c.Dots {
		x, y := percent(c.XScale.at(d.X)), percent(1-c.YScale.at(d.Y))
		fmt.Fprintf(b, `<circle class="f%d" fill="%s" cx="%s" cy="%s" r="3.5"/>`, d.Color, Color(d.Color), x, y)
		if d.Label != "" {
			fmt.Fprintf(b, `<text class="f%d" fill="%s" x="%s" y="%s" dx="6" dy="-5">%s</text>`, d.Color, Color(d.Color), x, y, text(d.Label))
		}
	}
}

// pen returns the attributes of a line.
func pen(color int, class string) string {
	look := fmt.Sprintf(`class="s%d" stroke="%s"`, color, Color(color))
	switch class {
	case "dash":
		look += ` stroke-dasharray="5 4"`
	case "thin":
		look += ` stroke-width="1" opacity=".75"`
	}
	return look
}

// Swatch draws a piece of a line, for a legend.
func Swatch(color int, class string) string {
	return `<svg class="swatch" width="18" height="8" fill="none" stroke-width="3" aria-hidden="true"><path ` + pen(color, class) + ` d="M0 4h18"/></svg>`
}

// place returns a point in the stretched coordinates; ok is false for a gap.
func (c *Chart) place(i int, v float64) (x, y int, ok bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, 0, false
	}
	return whole(c.XScale.at(c.X[i]), across), whole(1-c.YScale.at(v), down), true
}

// path writes a line in relative coordinates, which are shortest. It returns the points without a neighbour, which are no line.
func (c *Chart) path(b *strings.Builder, y []float64) (alone string) {
	px, py, pen, again := 0, 0, false, false
	for i := range y {
		x, v, ok := c.place(i, y[i])
		switch {
		case !ok:
			pen = false
			continue
		case !pen && (i+1 == len(y) || math.IsNaN(y[i+1])):
			alone += fmt.Sprintf("M%d %dh0", x, v)
		case !pen:
			fmt.Fprintf(b, "M%d %d", x, v)
			again = false
		default:
			step(b, x-px, v-py, again)
			again = true
		}
		px, py, pen = x, v, true
	}
	return alone
}

// area writes the areas between two lines, one from gap to gap.
func (c *Chart) area(b *strings.Builder, low, high []float64) {
	for i := 0; i < len(low); {
		j := i
		for j < len(low) && !math.IsNaN(low[j]) && !math.IsNaN(high[j]) {
			j++
		}
		if j > i {
			px, py := 0, 0
			for k := i; k < j; k++ {
				x, y, _ := c.place(k, high[k])
				if k == i {
					fmt.Fprintf(b, "M%d %d", x, y)
				} else {
					step(b, x-px, y-py, k > i+1)
				}
				px, py = x, y
			}
			for k := j - 1; k >= i; k-- {
				x, y, _ := c.place(k, low[k])
				step(b, x-px, y-py, j > i+1)
				px, py = x, y
			}
			b.WriteByte('z')
		}
		i = max(j, i+1)
	}
}
