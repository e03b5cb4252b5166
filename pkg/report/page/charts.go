package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/report"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// nextID numbers the charts by kind, so that a live page can find them again.
func (p *Page) nextID(kind string) string {
	if p.ids == nil {
		p.ids = map[string]int{}
	}
	p.ids[kind]++
	return kind + "-" + strconv.Itoa(p.ids[kind])
}

// draw renders a chart of lines.
func (p *Page) draw(kind string, c *svg.Chart) *chart {
	c.ID = p.nextID(kind)
	shown := &chart{ID: c.ID, Title: c.Title, SVG: template.HTML(c.SVG())}
	for i := range c.Lines {
		l := &c.Lines[i]
		if !c.Labels && l.Label != "" && (len(c.Lines) > 1 || l.Label != c.Title) {
			shown.Legend = append(shown.Legend, legend{l.Label, template.HTML(svg.Swatch(l.Color, l.Class))})
		}
	}
	for _, m := range c.Marks {
		shown.Marks = append(shown.Marks, svg.Elapsed(m.X)+" "+m.Text)
	}
	return shown
}

// A timeline is the common axis of charts over time.
type timeline struct {
	begin  time.Time // of the axis; zero = unknown
	length float64   // of the axis, in seconds
	x      []float64 // places of the values, in seconds since begin
	marks  []svg.Mark
}

// timeline returns the axis of a group's charts.
func (g *group) timeline(x []float64) timeline {
	begin, length := g.length()
	return timeline{begin, length, x, g.marks(begin)}
}

// values are the numbers behind a chart over time. The script shows them at the
// pointer; everybody else opens the table.
type values struct {
	Begin  int64   // of the axis, in ms since 1970; 0 = unknown
	Length float64 // of the axis, in seconds
	Places string  // of the rows, in seconds
	Table  *report.Table
}

// A series is a column of the table of values.
type series struct {
	label string
	y     []float64
	show  func(float64) string
	join  func([]float64) float64 // makes one value of neighbours
}

// seriesOf returns the columns of a chart's lines.
func seriesOf(lines []svg.Line, show func(float64) string, join func([]float64) float64) (all []series) {
	for _, l := range lines {
		all = append(all, series{l.Label, l.Y, show, join})
	}
	return all
}

// drawTimed renders a chart over time with the table of its values.
func (p *Page) drawTimed(kind string, c *svg.Chart, t timeline, columns []series) *chart {
	c.X, c.XScale, c.Marks = t.x, svg.Seconds(t.length), t.marks
	shown := p.draw(kind, c)
	if p.marksListed {
		shown.Marks = nil // they are below the first chart
	}
	p.marksListed = p.marksListed || len(c.Marks) > 0
	shown.Values = t.values(c.Title, columns)
	return shown
}

// maxRows limits tables of values. By default, a run has fewer segments.
const maxRows = 400

// values makes the table. It joins neighbours if there are too many.
func (t timeline) values(title string, columns []series) *values {
	v := &values{Length: t.length, Table: &report.Table{Caption: "Values: " + title, Head: []string{"at"}, Closed: true}}
	if !t.begin.IsZero() {
		v.Begin = t.begin.UnixMilli()
		v.Table.Caption += ", from " + t.begin.UTC().Format("15:04:05 UTC")
	}
	for _, c := range columns {
		v.Table.Head = append(v.Table.Head, c.label)
	}
	step := (len(t.x) + maxRows - 1) / maxRows
	if step > 1 {
		v.Table.Caption += fmt.Sprintf(", %d segments in a row: their mean rate, their highest latency", step)
	}
	var places []string
	for i := 0; i < len(t.x); i += step {
		end := min(i+step, len(t.x))
		at := (t.x[i] + t.x[end-1]) / 2
		places = append(places, strconv.FormatFloat(math.Round(1e3*at)/1e3, 'f', -1, 64))
		row := []string{svg.Elapsed(at)}
		for _, c := range columns {
			row = append(row, c.cell(i, end))
		}
		v.Table.Rows = append(v.Table.Rows, row)
	}
	v.Places = strings.Join(places, " ")
	return v
}

// cell shows the known values from one index to another.
func (s *series) cell(from, to int) string {
	known := slices.DeleteFunc(slices.Clone(s.y[from:to]), math.IsNaN)
	if len(known) == 0 {
		return ""
	}
	return s.show(s.join(known))
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// A unit is the unit in which a metric is drawn, so that ticks are round.
type unit struct {
	name string
	size float64 // in the unit of the metric
}

// unitOf chooses the unit by the largest value.
func unitOf(u results.Unit, largest float64) unit {
	switch u {
	case results.BytesPerSecond:
		of := human.SegmentUnit(largest)
		return unit{of.Name(), of.Size()}
	case results.ObjectsPerSecond:
		return unit{"objects/s", 1}
	case results.Share:
		return unit{"%", .01}
	}
	if largest >= 2000 {
		return unit{"s", 1000}
	}
	return unit{"ms", 1}
}

// in returns values in the unit.
func (u unit) in(values []float64) []float64 {
	scaled := make([]float64, len(values))
	for i, v := range values {
		scaled[i] = v / u.size
	}
	return scaled
}

// rateUnit returns the unit of throughput: of bytes, or else of objects.
func rateUnit(bytes bool) results.Unit {
	if bytes {
		return results.BytesPerSecond
	}
	return results.ObjectsPerSecond
}

// rateText shows bytes or objects per second.
func rateText(rate float64, bytes bool) string {
	if bytes {
		return human.Rate(rate)
	}
	return human.PerSecond(rate) + " objects/s"
}

func objectsText(rate float64) string { return rateText(rate, false) }

// unknown returns values that are not drawn.
func unknown(n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = math.NaN()
	}
	return y
}

// rateChart draws bytes or objects per second, as one of several charts. The title contains the unit. The
// columns are added to the table of values.
func (p *Page) rateChart(kind, title, desc string, charts int, t timeline, lines []svg.Line, bytes bool, columns ...series) *chart {
	u := unitOf(rateUnit(bytes), svg.Highest(lines))
	for i := range lines {
		lines[i].Y = u.in(lines[i].Y)
	}
	if title != "" {
		title += ", "
	}
	c := &svg.Chart{Title: human.UpperFirst(title + u.name), Desc: desc, Lines: lines, Height: heightOf(charts)}
	c.YScale = svg.FromZero(svg.Highest(lines), svg.Number)
	return p.drawTimed(kind, c, t, append(seriesOf(lines, svg.Number, mean), columns...))
}

// A latencyRange is the common scale of the latency charts of a page, in ms, so that operations can
// be compared.
type latencyRange struct{ lowest, highest float64 }

// add widens the range to the latencies of the groups' segments.
func (r *latencyRange) add(groups []group) {
	for i := range groups {
		for _, op := range groups[i].ops {
			for k := range op.Segments {
				if d := op.Segments[k].Duration; d != nil {
					r.include(d.P50)
					r.include(d.Max)
				}
			}
		}
	}
}

func (r *latencyRange) include(ms float64) {
	if ms > 0 && (r.lowest == 0 || ms < r.lowest) {
		r.lowest = ms
	}
	r.highest = max(r.highest, ms)
}

// latencyChart draws durations in ms. It returns nil if there are none.
func (p *Page) latencyChart(title, desc string, t timeline, lines []svg.Line, bands []svg.Band, height int) *chart {
	if svg.Highest(lines) == 0 {
		return nil
	}
	c := &svg.Chart{Title: title, Desc: desc, YScale: svg.LogMillis(p.scale.lowest, p.scale.highest), Lines: lines, Bands: bands, Height: height, Labels: len(bands) > 0}
	return p.drawTimed("latency", c, t, seriesOf(lines, human.Millis, slices.Max))
}
