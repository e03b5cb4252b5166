package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/comparison"
	"warp/pkg/report/svg"
	"warp/pkg/results"
	"warp/pkg/sweep"
)

// maxSweepLines is the number of lines that a chart can tell apart.
const maxSweepLines = 8

// Sweep returns the page of a benchmark that was run at many points.
func Sweep(r *sweep.Result) *Page {
	p := newPage(r, "sweep", comparison.SweepTitle(r), nil)
	p.Lead = comparison.SweepRemarks(r)
	p.warn("", comparison.SweepWarnings(r), "")
	p.sweepCards(r)
	p.throughputLatency(r)
	p.sweepMetrics(r)
	p.sweepPoints(r)
	p.commandSection(r.Command)
	return p
}

// sweepCards has a card for each conclusion, up to a limit.
func (p *Page) sweepCards(r *sweep.Result) {
	for i := range r.Conclusions {
		c := &r.Conclusions[i]
		if c.Enough == nil || len(p.Cards) == maxSweepLines {
			continue
		}
		m, _ := results.FindMetric(c.Metric)
		note := fmt.Sprintf("%s, and the best is %s at %g", comparison.MetricText(m.Unit, c.Enough.Median, c.Enough.Median), comparison.MetricText(m.Unit, c.Best.Median, c.Best.Median), c.Best.Concurrency)
		if c.Enough.Concurrency == c.Best.Concurrency {
			note = comparison.MetricText(m.Unit, c.Best.Median, c.Best.Median) + ", the best"
		}
		label := "Smallest concurrency with 95 % of the best throughput"
		if c.At != "" {
			label += ", " + c.At
		}
		p.Cards = append(p.Cards, card{Label: label, Figure: fmt.Sprintf("%g", c.Enough.Concurrency), Note: note})
	}
}

// lineLabel names the line with the number i; "" if there is one only.
func lineLabel(axes []sweep.Axis, axis, i int) string {
	if len(axes) < 2 {
		return ""
	}
	other := axes[1-axis]
	return other.Flag + "=" + other.Values[i]
}

// throughputLatency draws the first time over the first rate, a line for each value of the axis that is not the concurrency.
func (p *Page) throughputLatency(r *sweep.Result) {
	rate, time := -1, -1
	for i, m := range r.Metrics {
		switch {
		case rate < 0 && (m.Unit == results.BytesPerSecond || m.Unit == results.ObjectsPerSecond):
			rate = i
		case time < 0 && m.Unit == results.Milliseconds:
			time = i
		}
	}
	axis := sweep.LineAxis(r.Axes)
	if rate < 0 || time < 0 || len(r.Axes[axis].Values) < 2 {
		return
	}
	lines := sweep.Lines(r.Axes, axis)
	if len(lines) > maxSweepLines {
		return
	}
	c := &svg.Chart{Title: r.Metrics[time].Name + " over " + r.Metrics[rate].Name, Height: 300}
	largestRate, lowest, highest := 0.0, math.Inf(1), 0.0
	for _, line := range lines {
		for _, point := range line {
			x, y := &r.Points[point].Cells[rate], &r.Points[point].Cells[time]
			if x.Known() && y.Known() && y.Median > 0 {
				c.X = append(c.X, x.Median)
				largestRate, lowest, highest = max(largestRate, x.Median), min(lowest, y.Median), max(highest, y.Median)
			}
		}
	}
	if len(c.X) < 2 {
		return
	}
	unit := unitOf(r.Metrics[rate].Unit, largestRate)
	c.XNote = fmt.Sprintf("%s (%s)", r.Metrics[rate].Name, unit.name)
	c.X = unit.in(c.X)
	at := 0
	for i, line := range lines {
		l := svg.Line{Label: lineLabel(r.Axes, axis, i), Color: i % maxSweepLines, Y: unknown(len(c.X))}
		for k, point := range line {
			x, y := &r.Points[point].Cells[rate], &r.Points[point].Cells[time]
			if !x.Known() || !y.Known() || y.Median <= 0 {
				continue
			}
			l.Y[at] = y.Median
			c.Dots = append(c.Dots, svg.Dot{X: x.Median / unit.size, Y: y.Median, Label: r.Axes[axis].Values[k], Color: l.Color})
			c.Desc += fmt.Sprintf("%s: %s, %s. ", strings.Join(r.Points[point].Values, " "), comparison.SweepCell(r, point, rate), comparison.SweepCell(r, point, time))
			at++
		}
		c.Lines = append(c.Lines, l)
	}
	c.XScale = svg.FromZero(largestRate/unit.size, svg.Number)
	c.YScale = svg.LogMillis(lowest, highest)
	drawn := p.draw("curve", c)
	drawn.Note = fmt.Sprintf("The numbers at the points are values of %s.", r.Axes[axis].Flag)
	p.section(section{ID: "curve", Title: "Throughput and latency", Blocks: []block{{Chart: drawn}}})
}

// sweepMetrics has a chart for each metric, and with two axes a grid.
func (p *Page) sweepMetrics(r *sweep.Result) {
	s := section{ID: "metrics", Title: "Metrics"}
	for m := range r.Metrics {
		s.chart(p.sweepChart(r, m))
		if len(r.Axes) == 2 {
			s.chart(p.sweepGrid(r, m))
		}
	}
	p.section(s)
}

// sweepChart draws a metric along an axis: medians with their ranges, or a line for each value of the other axis.
func (p *Page) sweepChart(r *sweep.Result, m int) *chart {
	axis := sweep.LineAxis(r.Axes)
	lines := sweep.Lines(r.Axes, axis)
	n := len(r.Axes[axis].Values)
	if n < 2 || len(lines) > maxSweepLines {
		return nil
	}
	c := &svg.Chart{Title: r.Metrics[m].Name, XNote: r.Axes[axis].Flag, XScale: svg.Places(r.Axes[axis].Values)}
	for k := range n {
		c.X = append(c.X, float64(k))
	}
	ranged, largest := false, 0.0
	for i := range r.Points {
		largest = max(largest, r.Points[i].Cells[m].Max)
	}
	unit := unitOf(r.Metrics[m].Unit, largest)
	c.Title += " (" + unit.name + ")"
	for i, line := range lines {
		median := svg.Line{Label: lineLabel(r.Axes, axis, i), Color: i % maxSweepLines}
		low, high := median, median
		for k, point := range line {
			cell := &r.Points[point].Cells[m]
			y, from, to := math.NaN(), math.NaN(), math.NaN()
			if cell.Known() {
				y, from, to = cell.Median/unit.size, cell.Min/unit.size, cell.Max/unit.size
				c.Dots = append(c.Dots, svg.Dot{X: float64(k), Y: y, Color: median.Color})
				c.Desc += fmt.Sprintf("%s: %s. ", strings.Join(r.Points[point].Values, " "), comparison.SweepCell(r, point, m))
			}
			median.Y, low.Y, high.Y = append(median.Y, y), append(low.Y, from), append(high.Y, to)
			ranged = ranged || from < to
		}
		c.Lines = append(c.Lines, median)
		if len(lines) == 1 && ranged {
			low.Label, high.Label = "", ""
			c.Lines = append(c.Lines, low, high)
			c.Bands = append(c.Bands, svg.Band{Low: 1, High: 2, Color: median.Color})
		}
	}
	c.YScale = svg.FromZero(largest/unit.size, svg.Number)
	drawn := p.draw("metric", c)
	if len(c.Bands) > 0 {
		drawn.Note = "The line is the median of the runs, and the area their range."
	}
	return drawn
}

// sweepGrid draws the matrix of a metric.
func (p *Page) sweepGrid(r *sweep.Result, m int) *chart {
	g := &svg.Grid{ID: p.nextID("grid"), Title: fmt.Sprintf("%s: %s down, %s across", r.Metrics[m].Name, r.Axes[0].Flag, r.Axes[1].Flag),
		Desc: "The darker, the larger.", Rows: r.Axes[0].Values, Columns: r.Axes[1].Values}
	largest := r.Largest(m)
	columns := len(r.Axes[1].Values)
	for i := range r.Axes[0].Values {
		row := make([]svg.Cell, columns)
		for k := range row {
			point := i*columns + k
			row[k] = svg.Cell{Text: comparison.SweepCell(r, point, m), Share: -1}
			if c := &r.Points[point].Cells[m]; c.Known() && largest > 0 {
				row[k].Share = c.Median / largest
			}
		}
		g.Cells = append(g.Cells, row)
	}
	return &chart{ID: g.ID, Title: g.Title, Scrolls: true, SVG: template.HTML(g.SVG())}
}

// sweepPoints has the table of all points, and the names of the logs.
func (p *Page) sweepPoints(r *sweep.Result) {
	head, rows := comparison.SweepRows(r)
	logs := &report.Table{Caption: "Op logs", Head: []string{"point", "logs"}, Text: true, Closed: true}
	for i := range r.Points {
		logs.Rows = append(logs.Rows, []string{strings.Join(r.Points[i].Values, " "), strings.Join(r.Points[i].Logs, ", ")})
	}
	if r.Again != nil {
		logs.Rows = append(logs.Rows, []string{strings.Join(r.Again.Values, " ") + ", once more", r.Again.Log})
	}
	p.tables("points", "Points", &report.Table{Caption: "Medians of the runs", Head: head, Rows: rows}, logs)
}

// SweepComparison returns the page that compares two sweeps.
func SweepComparison(c *sweep.Comparison) *Page {
	before, after := c.Before, c.After
	p := newPage(c, "comparison of two sweeps at "+human.Plural(c.Points, "point"), before+" and "+after, nil)
	p.Lead = append(p.Lead, verdictSentence(&compare.Verdicts{Verdict: c.Verdict, MinEffect: c.MinEffect}, after, before))
	p.Lead = append(p.Lead, comparison.SweepComparisonRemarks(c)...)
	p.warn("", c.Warnings, ".")
	p.warn("Left out: ", c.LeftOut, "")
	for _, x := range c.Overall {
		p.Cards = append(p.Cards, card{Label: x.Metric + " over all points", Figure: percentText(x.Change), State: stateOf(x.Verdict), Note: string(x.Verdict)})
	}
	head, rows := comparison.SweepOverall(c)
	p.tables("changes", "Changes over all points", &report.Table{Caption: "Changes over all points", Head: head, Rows: rows})
	head, rows = comparison.SweepByPoint(c)
	p.tables("points", "Changes at each point", &report.Table{Caption: "Changes at each point", Head: head, Rows: rows, Text: true})
	return p
}
