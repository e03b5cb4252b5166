package page

import (
	"html/template"
	"strconv"
	"time"

	"warp/internal/human"
	"warp/pkg/report/svg"
)

// nextID numbers the charts by kind, so that a live page can find them again.
func (p *Page) nextID(kind string) string {
	if p.ids == nil {
		p.ids = map[string]int{}
	}
	p.ids[kind]++
	return kind + "-" + strconv.Itoa(p.ids[kind])
}

// draw renders a chart of lines, and stores what a script needs to draw it again.
func (p *Page) draw(kind string, c *svg.Chart, origin time.Time) *chart {
	c.ID = p.nextID(kind)
	shown := &chart{ID: c.ID, Title: c.Title, SVG: template.HTML(c.SVG()), Tall: c.XNote != "", Zooms: !c.Still && len(c.X) > 2}
	for i := range c.Lines {
		l := &c.Lines[i]
		if l.Label != "" && (len(c.Lines) > 1 || l.Label != c.Title) {
			shown.Legend = append(shown.Legend, legend{human.Visible(l.Label), l.Color, l.Class})
		}
	}
	for _, m := range c.Marks {
		shown.Marks = append(shown.Marks, svg.Elapsed(m.X)+" "+human.Visible(m.Text))
	}
	if !shown.Zooms {
		return shown
	}
	p.plots = append(p.plots, c.Data(origin))
	return shown
}

// rates are bytes or objects per second over time, for a chart.
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

// overTime completes a chart of bytes or objects per second. The title contains the unit.
func (p *Page) overTime(kind, title, desc string, x []float64, length float64, lines []svg.Line, bytes bool, marks []svg.Mark, origin time.Time) *chart {
	r := ratesOf(svg.Highest(lines), bytes)
	for i := range lines {
		y := make([]float64, len(lines[i].Y))
		for k, v := range lines[i].Y {
			y[k] = v / r.scale
		}
		lines[i].Y = y
	}
	if title != "" {
		title += ", "
	}
	c := &svg.Chart{Title: human.UpperFirst(title + r.unit), Desc: desc, Unit: r.unit, X: x, XScale: svg.Seconds(length), Lines: lines, Marks: marks}
	c.YScale = svg.FromZero(svg.Highest(lines), func(v float64) string { return svg.Grouped(v) })
	return p.draw(kind, c, origin)
}

// millis completes a chart of durations.
func (p *Page) millis(kind, title, desc string, x []float64, length float64, lines []svg.Line, bands []svg.Band, marks []svg.Mark, origin time.Time) *chart {
	least, largest := 0.0, svg.Highest(lines)
	for _, l := range lines {
		for _, v := range l.Y {
			if v > 0 && (least == 0 || v < least) {
				least = v
			}
		}
	}
	if largest == 0 {
		return nil
	}
	c := &svg.Chart{Title: title, Desc: desc, Unit: "ms", X: x, XScale: svg.Seconds(length), YScale: svg.LogMillis(least, largest), Lines: lines, Bands: bands, Marks: marks}
	return p.draw(kind, c, origin)
}

func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted returns a number with separated thousands and its noun.
func counted(n uint64, one, many string) string { return count(n) + " " + human.Choose(n, one, many) }
