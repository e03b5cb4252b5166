package page

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"warp/internal/human"
)

// Charts are drawn so that text keeps its size whatever the width of the
// screen: places along the axes are percentages, and only the lines lie in a
// coordinate system that is stretched, of across × down.
const (
	across = 1000
	down   = 250
)

// A tick is a place on an axis, from 0 to 1, with its label.
type tick struct {
	at    float64
	label string
}

// A scale maps values to places from 0 to 1.
type scale struct {
	min, max float64
	log      bool
	ticks    []tick
}

func (s *scale) at(v float64) float64 {
	if s.log {
		v = math.Max(v, s.min)
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	if s.max == s.min {
		return 0
	}
	return (v - s.min) / (s.max - s.min)
}

func (s *scale) tick(v float64, label string) {
	if s.log && v < s.min*(1-1e-9) {
		return
	}
	if at := s.at(v); at >= -1e-9 && at <= 1+1e-9 {
		s.ticks = append(s.ticks, tick{at, label})
	}
}

// fromZero is a scale from 0 to above the largest value, with round ticks.
func fromZero(largest float64, label func(float64) string) scale {
	if !(largest > 0) || math.IsInf(largest, 0) {
		largest = 1
	}
	step := niceStep(largest / 4)
	s := scale{max: step * math.Ceil(largest/step*(1-1e-12))}
	for i := 0; float64(i)*step <= s.max*(1+1e-9); i++ {
		s.tick(float64(i)*step, label(float64(i)*step))
	}
	return s
}

// niceStep is the next of 1, 2, 2.5, 5 and 10 times a power of 10.
func niceStep(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range []float64{1, 2, 2.5, 5} {
		if k*p >= x*(1-1e-9) {
			return k * p
		}
	}
	return 10 * p
}

// logMillis is a logarithmic scale of durations in ms, with a tick for each decade, or for 1, 2 and 5 where there are few.
func logMillis(least, largest float64) scale {
	if !(least > 0) {
		least = 1e-3
	}
	largest = math.Max(largest, least*1.01)
	s := scale{log: true, min: floor125(least), max: ceil125(largest)}
	steps := []float64{1}
	if s.max/s.min <= 200 {
		steps = []float64{1, 2, 5}
	}
	skip := 1
	if decades := math.Log10(s.max / s.min); decades > 6 {
		skip = 2
	}
	for e := int(math.Floor(math.Log10(s.min))); e <= int(math.Ceil(math.Log10(s.max))); e += skip {
		for _, k := range steps {
			v := k * math.Pow(10, float64(e))
			s.tick(v, tickMillis(v))
		}
	}
	return s
}

func floor125(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range []float64{5, 2} {
		if k*p <= x*(1+1e-9) {
			return k * p
		}
	}
	return p
}

func ceil125(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range []float64{1, 2, 5} {
		if k*p >= x*(1-1e-9) {
			return k * p
		}
	}
	return 10 * p
}

// tickMillis shows 1, 2 or 5 times a power of ten without digits that say nothing.
func tickMillis(ms float64) string {
	for _, u := range []struct {
		ms   float64
		name string
	}{{1e3, " s"}, {1, " ms"}, {1e-3, " µs"}, {0, " ns"}} {
		if ms >= u.ms*(1-1e-9) {
			if u.ms == 0 {
				return short(ms*1e6) + u.name
			}
			return grouped(ms/u.ms) + u.name
		}
	}
	return ""
}

// seconds is a scale of the time since the begin.
func seconds(length float64) scale {
	s := scale{max: math.Max(length, 1e-3)}
	step := niceStep(s.max / 6)
	for _, nice := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		if s.max >= 6 && nice >= s.max/8 {
			step = nice
			break
		}
	}
	for i := 0; float64(i)*step <= s.max*(1+1e-9); i++ {
		s.tick(float64(i)*step, elapsed(float64(i)*step))
	}
	return s
}

// elapsed shows a time since the begin: 40 s, 2:30, 1:02:30.
func elapsed(s float64) string {
	switch {
	case s < 60:
		return short(s) + " s"
	case s < 3600:
		return fmt.Sprintf("%d:%02d", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(s)/3600, int(s)/60%60, int(s)%60)
}

// short shows a number with at most four significant digits.
func short(x float64) string {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// A line is drawn through points; where y is not a number there is a gap.
type line struct {
	label string
	color int    // slot of the palette
	class string // more classes of the path
	y     []float64
}

// A band is the area between two lines.
type band struct {
	low, high int // index of lines
	color     int
}

// A mark is an instant at which something was done, in the unit of x.
type mark struct {
	X    float64 `json:"x"`
	Text string  `json:"text"`
}

// A lineChart has lines over a common x.
type lineChart struct {
	id, title string
	desc      string // for those who do not see it
	unit      string // of y: "ms", or what the values are shown with
	x         []float64
	xs, ys    scale
	xNote     string // what x is
	lines     []line
	bands     []band
	marks     []mark
	height    int
	still     bool // no zooming: x is no time
}

// text escapes what may be anybody's for HTML.
func text(s string) string { return html.EscapeString(visible(s)) }

// visible replaces characters that act on what shows them.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if human.Steers(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func percent(at float64) string {
	return strconv.FormatFloat(math.Round(1e4*at)/100, 'f', -1, 64) + "%"
}

// frame draws axes around what body draws.
func frame(b *strings.Builder, id, title, desc string, height int, xs, ys *scale, xNote string, body func()) {
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

// edges reports whether a line is the edge of a band, which draws it.
func (c *lineChart) edges(line int) bool {
	return slices.ContainsFunc(c.bands, func(b band) bool { return b.low == line || b.high == line })
}

// svg draws the chart.
func (c *lineChart) svg() string {
	var b strings.Builder
	height := c.height
	if height == 0 {
		height = 220
	}
	frame(&b, c.id, c.title, c.desc, height, &c.xs, &c.ys, c.xNote, func() {
		fmt.Fprintf(&b, `<svg class="lines" width="100%%" height="100%%" viewBox="0 0 %d %d" preserveAspectRatio="none">`, across, down)
		for _, a := range c.bands {
			fmt.Fprintf(&b, `<path class="band s%d f%d" d="`, a.color, a.color)
			c.area(&b, c.lines[a.low].y, c.lines[a.high].y)
			b.WriteString(`"/>`)
		}
		for i := range c.lines {
			l := &c.lines[i]
			if c.edges(i) {
				continue
			}
			class := "s" + strconv.Itoa(l.color)
			if l.class != "" {
				class += " " + l.class
			}
			fmt.Fprintf(&b, `<path class="%s" d="`, class)
			c.path(&b, l.y)
			b.WriteString(`"/>`)
		}
		b.WriteString(`</svg>`)
		drawMarks(&b, c.marks, &c.xs)
	})
	return b.String()
}

// drawMarks draws a numbered line for each mark; their texts are below the chart.
func drawMarks(b *strings.Builder, marks []mark, xs *scale) {
	for i, m := range marks {
		if at := xs.at(m.X); at >= 0 && at <= 1 {
			fmt.Fprintf(b, `<line class="mark" x1="%s" x2="%s" y1="0" y2="100%%"/><text class="marked" x="%s" y="0" dx="3" dy="11">%d</text>`,
				percent(at), percent(at), percent(at), i+1)
		}
	}
}

// place is a point in the stretched coordinates; ok is false for a gap.
func (c *lineChart) place(i int, v float64) (x, y int, ok bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, 0, false
	}
	return whole(c.xs.at(c.x[i]), across), whole(1-c.ys.at(v), down), true
}

func whole(at, of float64) int { return int(math.Round(of * math.Min(math.Max(at, -1), 2))) }

// path writes a line in relative coordinates, which take the least room.
func (c *lineChart) path(b *strings.Builder, y []float64) {
	px, py, pen, again := 0, 0, false, false
	for i := range y {
		x, v, ok := c.place(i, y[i])
		switch {
		case !ok:
			pen = false
			continue
		case !pen:
			fmt.Fprintf(b, "M%d %d", x, v)
			again = false
			if i+1 == len(y) || math.IsNaN(y[i+1]) {
				b.WriteString("h0") // a point by itself
			}
		default:
			step(b, x-px, v-py, again)
			again = true
		}
		px, py, pen = x, v, true
	}
}

// step goes on in a straight line. The command of the step before is left out
// where it is the same.
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

// area writes what lies between two lines, piece by piece between gaps.
func (c *lineChart) area(b *strings.Builder, low, high []float64) {
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
