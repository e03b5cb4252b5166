package page

import (
	"html/template"
	"strconv"
	"time"

	"warp/internal/human"
)

// nextID numbers what is drawn by kind, so that a page that is fed finds it again.
func (p *Page) nextID(kind string) string {
	if p.ids == nil {
		p.ids = map[string]int{}
	}
	p.ids[kind]++
	return kind + "-" + strconv.Itoa(p.ids[kind])
}

// draw renders a chart of lines, and notes what a script needs to draw it anew.
func (p *Page) draw(kind string, c *lineChart, origin time.Time) *chart {
	c.id = p.nextID(kind)
	shown := &chart{ID: c.id, Title: c.title, SVG: template.HTML(c.svg()), Tall: c.xNote != "", Zooms: !c.still && len(c.x) > 2}
	for i := range c.lines {
		l := &c.lines[i]
		if l.label != "" && (len(c.lines) > 1 || l.label != c.title) {
			shown.Legend = append(shown.Legend, legend{visible(l.label), l.color, l.class})
		}
	}
	for _, m := range c.marks {
		shown.Marks = append(shown.Marks, elapsed(m.X)+" "+visible(m.Text))
	}
	if !shown.Zooms {
		return shown
	}
	z := plot{ID: c.id, Title: c.title, Unit: c.unit, Log: c.ys.log, X: c.x, Marks: c.marks}
	if !origin.IsZero() {
		z.Origin = origin.UnixMilli()
	}
	for i := range c.lines {
		l := &c.lines[i]
		z.Lines = append(z.Lines, curve{visible(l.label), l.color, l.class, l.y})
	}
	for _, b := range c.bands {
		z.Bands, z.Colors = append(z.Bands, [2]int{b.high, b.low}), append(z.Colors, b.color)
	}
	p.plots = append(p.plots, z)
	return shown
}

// rates are bytes or objects per second over time, as a chart shows them.
type rates struct {
	unit  string
	scale float64
}

// ratesOf chooses the unit by the largest value.
func ratesOf(largest float64, bytes bool) rates {
	if !bytes {
		return rates{"objects/s", 1}
	}
	switch {
	case largest >= 10<<30:
		return rates{"GiB/s", 1 << 30}
	case largest >= 1<<19:
		return rates{"MiB/s", 1 << 20}
	}
	return rates{"KiB/s", 1 << 10}
}

func largestOf(lines []line) float64 {
	largest := 0.0
	for _, l := range lines {
		for _, v := range l.y {
			if v > largest {
				largest = v
			}
		}
	}
	return largest
}

// overTime completes a chart of throughput from bytes or objects per second. Its
// unit is part of the title.
func (p *Page) overTime(kind, title, desc string, x []float64, length float64, lines []line, bytes bool, marks []mark, origin time.Time) *chart {
	r := ratesOf(largestOf(lines), bytes)
	for i := range lines {
		y := make([]float64, len(lines[i].y))
		for k, v := range lines[i].y {
			y[k] = v / r.scale
		}
		lines[i].y = y
	}
	if title != "" {
		title += ", "
	}
	c := &lineChart{title: human.UpperFirst(title + r.unit), desc: desc, unit: r.unit, x: x, xs: seconds(length), lines: lines, marks: marks}
	c.ys = fromZero(largestOf(lines), func(v float64) string { return grouped(v) })
	return p.draw(kind, c, origin)
}

// millis completes a chart of durations.
func (p *Page) millis(kind, title, desc string, x []float64, length float64, lines []line, bands []band, marks []mark, origin time.Time) *chart {
	least, largest := 0.0, largestOf(lines)
	for _, l := range lines {
		for _, v := range l.y {
			if v > 0 && (least == 0 || v < least) {
				least = v
			}
		}
	}
	if largest == 0 {
		return nil
	}
	c := &lineChart{title: title, desc: desc, unit: "ms", x: x, xs: seconds(length), ys: logMillis(least, largest), lines: lines, bands: bands, marks: marks}
	return p.draw(kind, c, origin)
}

// grouped shows a number with separated thousands.
func grouped(v float64) string {
	s := short(v)
	end := len(s)
	for i := range s {
		if s[i] == '.' {
			end = i
			break
		}
	}
	for i := end - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted is a number with separated thousands and its noun.
func counted(n uint64, one, many string) string { return count(n) + " " + human.Choose(n, one, many) }
