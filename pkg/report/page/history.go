package page

import (
	"fmt"
	"math"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/comparison"
	"warp/pkg/report/printer"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// History returns the page about runs over time.
func History(h *compare.History, o Options) *Page {
	runs := 0
	for i := range h.Workloads {
		runs += len(h.Workloads[i].Runs)
	}
	p := newPage(h, "runs over time", human.Plural(runs, "run"), o.Location)
	for i := range h.Workloads {
		w := &h.Workloads[i]
		for _, s := range comparison.HistoryRemarks(w, o.Location) {
			if len(h.Workloads) > 1 {
				s = w.Name + ": " + s
			}
			p.Lead = append(p.Lead, s)
		}
	}
	for i := range h.Workloads {
		p.workload(&h.Workloads[i])
	}
	return p
}

// workload has a chart for each metric, and a table of the runs.
func (p *Page) workload(w *compare.Workload) {
	s := section{ID: p.nextID("workload"), Title: comparison.WorkloadTitle(w)}
	for i := range w.Series {
		if c := &w.Series[i]; c.Unit != results.Share || c.Largest() > 0 {
			s.chart(p.metricOverRuns(w, c))
		}
	}
	s.table(p.pastRuns(w))
	p.section(s)
}

// metricOverRuns draws a metric over all runs: the value of each run, and between changes the median with its interval.
func (p *Page) metricOverRuns(w *compare.Workload, c *compare.Series) *chart {
	n := len(c.Values)
	unit := unitOf(c.Unit, c.Largest())
	draw := &svg.Chart{Title: c.Name().String() + " " + c.Metric + ", " + unit.name, XScale: svg.Positions(n), XNote: "runs in order of time"}
	lowest, highest := math.Inf(1), math.Inf(-1)
	values := svg.Line{Label: "each run", Color: 0, Class: "thin", Y: unknown(n)}
	for i := range n {
		draw.X = append(draw.X, float64(i))
		if v := c.Values[i]; v != nil {
			values.Y[i] = *v / unit.size
			lowest, highest = math.Min(lowest, *v/unit.size), math.Max(highest, *v/unit.size)
		}
	}
	draw.Lines = append(draw.Lines, values)
	for k, s := range c.Stretches {
		median := svg.Line{Color: 1, Y: unknown(n)}
		if k == 0 {
			median.Label = "median, 95 % interval"
		}
		low, high := svg.Line{Color: 1, Y: unknown(n)}, svg.Line{Color: 1, Y: unknown(n)}
		for i := s.From; i < s.To; i++ {
			median.Y[i] = s.Median / unit.size
			if s.Low != nil && s.High != nil {
				low.Y[i], high.Y[i] = *s.Low/unit.size, *s.High/unit.size
			}
		}
		at := len(draw.Lines)
		draw.Lines = append(draw.Lines, median)
		if s.Low != nil {
			draw.Lines = append(draw.Lines, low, high)
			draw.Bands = append(draw.Bands, svg.Band{Low: at + 1, High: at + 2, Color: 1})
		}
	}
	draw.YScale = svg.Between(lowest, highest, svg.Number)
	var marks []string
	for _, change := range c.Changes {
		r := &w.Runs[change.Run]
		draw.Marks = append(draw.Marks, svg.Mark{X: float64(change.Run)})
		marks = append(marks, fmt.Sprintf("run %d, %s, %s: %s, %s (%s to %s)", change.Run+1, comparison.TimeOf(r.Start, p.loc), r.Label, change.Verdict,
			percentText(change.Change), percentText(change.Low), percentText(change.High)))
		draw.Desc += marks[len(marks)-1] + ". "
	}
	shown := p.draw("history", draw)
	shown.Marks = marks
	return shown
}

// pastRuns lists the runs with all metrics of the total.
func (p *Page) pastRuns(w *compare.Workload) *report.Table {
	t := &report.Table{Caption: "All runs", Head: []string{"run", "time", "name", "version", "verdict"}, Closed: len(w.Runs) > 40}
	var all []*compare.Series
	for i := range w.Series {
		c := &w.Series[i]
		if w.Total(c.Metric) == c {
			all = append(all, c)
			t.Head = append(t.Head, c.Metric)
		}
	}
	for i := range w.Runs {
		r := &w.Runs[i]
		row := []string{fmt.Sprint(i + 1), comparison.TimeOf(r.Start, p.loc), r.Label, r.Warp, comparison.PastVerdict(r)}
		for _, c := range all {
			cell := printer.None
			if v := c.Values[i]; v != nil {
				cell = comparison.MetricText(c.Unit, *v, c.Largest())
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
