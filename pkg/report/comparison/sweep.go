package comparison

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/results"
	"warp/pkg/sweep"
)

// SweepText renders a sweep for people: a table with one axis, a matrix for each metric with two.
func SweepText(w io.Writer, r *sweep.Result, o printer.Options) error {
	p := newPrinter(o)
	p.Line("%s", SweepTitle(r))
	if len(r.Axes) == 1 {
		p.sweepTable(r)
	} else {
		p.matrices(r)
	}
	if o.Width > 0 {
		p.curve(r)
	}
	p.Line("")
	p.Sentences(SweepRemarks(r)...)
	p.Paragraph("Warning:", SweepWarnings(r)...)
	return p.To(w)
}

// SweepTitle says what was measured.
func SweepTitle(r *sweep.Result) string {
	var axes []string
	for _, a := range r.Axes {
		axes = append(axes, a.Flag)
	}
	return fmt.Sprintf("%s over %s: %s, %s each", r.Benchmark, strings.Join(axes, " and "), human.Plural(len(r.Points), "point"), human.Plural(r.Repeats, "run"))
}

// sweepTable has a row for each point.
func (p *textPrinter) sweepTable(r *sweep.Result) {
	head, rows := SweepRows(r)
	t := printer.NewTable(head, rows, 0, len(head))
	without := func(title string) func(row []string) {
		var at []int
		for i := range head {
			if head[i] == title {
				at = append(at, i)
			}
		}
		return printer.Without(at...)
	}
	t.Fit(p.MaxWidth(), without("95 %"), without("range"))
	p.Line("")
	p.Table(t, p.paintPoint)
}

// paintPoint marks the titles of a table of points, and figures from which no conclusion is drawn.
func (p *textPrinter) paintPoint(row, _ int, cell string) string {
	switch {
	case row == 0:
		return p.Bold(cell)
	case strings.HasSuffix(cell, leftOutMark):
		return p.Paint(cell, color.FgYellow)
	}
	return cell
}

// leftOutMark marks figures from which no conclusion is drawn.
const leftOutMark = "*"

// SweepRows returns a table with a row for each point: its values and the metrics, with ranges if there are several runs.
func SweepRows(r *sweep.Result) (head []string, rows [][]string) {
	ranged, intervals := false, false
	for i := range r.Points {
		for k := range r.Points[i].Cells {
			c := &r.Points[i].Cells[k]
			ranged, intervals = ranged || len(c.Values) > 1, intervals || c.Low != nil
		}
	}
	for _, a := range r.Axes {
		head = append(head, a.Flag)
	}
	for _, m := range r.Metrics {
		head = append(head, m.Name)
		if ranged {
			head = append(head, "range")
		}
		if intervals {
			head = append(head, "95 %")
		}
	}
	for i := range r.Points {
		point := &r.Points[i]
		row := slices.Clone(point.Values)
		for k, m := range r.Metrics {
			c := &point.Cells[k]
			row = append(row, SweepCell(r, i, k))
			if ranged {
				row = append(row, between(m.Unit, c.Min, c.Max, len(c.Values) > 1))
			}
			if intervals {
				low, high := 0.0, 0.0
				if c.Low != nil {
					low, high = *c.Low, *c.High
				}
				row = append(row, between(m.Unit, low, high, c.Low != nil))
			}
		}
		rows = append(rows, row)
	}
	return head, rows
}

func between(u results.Unit, low, high float64, known bool) string {
	if !known {
		return ""
	}
	return MetricText(u, low, high) + "…" + MetricText(u, high, high)
}

// SweepCell returns the median of a metric at a point, marked if no conclusion is drawn from it.
func SweepCell(r *sweep.Result, point, metric int) string {
	p := &r.Points[point]
	c := &p.Cells[metric]
	if !c.Known() {
		return printer.None
	}
	text := MetricText(r.Metrics[metric].Unit, c.Median, c.Median)
	if p.LeftOut != "" || c.Client != "" {
		text += leftOutMark
	}
	return text
}

// sweepMatrix returns a metric of a sweep with two axes: a row for each value of the first one, or of the second one if it is
// turned.
func sweepMatrix(r *sweep.Result, metric int, turned bool) (head []string, rows [][]string) {
	down, across := 0, 1
	if turned {
		down, across = 1, 0
	}
	head = append([]string{r.Axes[down].Flag + " \\ " + r.Axes[across].Flag}, r.Axes[across].Values...)
	for i, line := range sweep.Lines(r.Axes, across) {
		row := []string{r.Axes[down].Values[i]}
		for _, point := range line {
			row = append(row, SweepCell(r, point, metric))
		}
		rows = append(rows, row)
	}
	return head, rows
}

// matrices shows a matrix for each metric, or the points below each other where there is no room for that.
func (p *textPrinter) matrices(r *sweep.Result) {
	all := sweepMatrices(r, false)
	wide := func(t *printer.Table) bool { return t.Width() > p.MaxWidth() }
	if slices.ContainsFunc(all, wide) {
		all = sweepMatrices(r, true)
	}
	if slices.ContainsFunc(all, wide) {
		p.sweepTable(r)
		return
	}
	for m, t := range all {
		p.Line("")
		p.Line("%s", p.Bold(r.Metrics[m].Name))
		p.Table(t, p.paintPoint)
	}
}

func sweepMatrices(r *sweep.Result, turned bool) (all []*printer.Table) {
	for m := range r.Metrics {
		head, rows := sweepMatrix(r, m, turned)
		all = append(all, printer.NewTable(head, rows, 0, len(head)))
	}
	return all
}

// SweepMarkdown renders a sweep for a ticket.
func SweepMarkdown(w io.Writer, r *sweep.Result) error {
	p := newPrinter(printer.Options{})
	p.Line("%s: `%s`", SweepTitle(r), strings.ReplaceAll(human.OneLine(r.Command), "`", "'"))
	p.Line("")
	if len(r.Axes) == 1 {
		p.markdown(SweepRows(r))
	} else {
		for m := range r.Metrics {
			p.Line("**%s**", r.Metrics[m].Name)
			p.Line("")
			p.markdown(sweepMatrix(r, m, false))
			p.Line("")
		}
	}
	if len(r.Axes) == 1 {
		p.Line("")
	}
	for _, s := range SweepRemarks(r) {
		p.Line("- %s", markdownText(s))
	}
	for _, s := range SweepWarnings(r) {
		p.Line("- **Warning:** %s", markdownText(s))
	}
	return p.To(w)
}

func markdownText(s string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "|", "\\|", "<", "&lt;", "_", "\\_").Replace(human.OneLine(s))
}

func (p *textPrinter) markdown(head []string, rows [][]string) {
	line := func(cells []string) {
		for i := range cells {
			cells[i] = markdownText(cells[i])
		}
		p.Line("| %s |", strings.Join(cells, " | "))
	}
	line(slices.Clone(head))
	p.Line("|%s", strings.Repeat(" ---: |", len(head)))
	for _, row := range rows {
		line(slices.Clone(row))
	}
}

// SweepCSV renders a sweep as comma-separated values, a row for each point and metric.
func SweepCSV(w io.Writer, r *sweep.Result) error {
	out := csv.NewWriter(w) // it keeps the first error
	var head []string
	for _, a := range r.Axes {
		head = append(head, a.Flag)
	}
	_ = out.Write(append(head, "metric", "unit", "runs", "median", "min", "max", "low", "high", "left_out", "client", "logs"))
	for i := range r.Points {
		p := &r.Points[i]
		for k, m := range r.Metrics {
			c := &p.Cells[k]
			figures := []*float64{&c.Median, &c.Min, &c.Max, c.Low, c.High}
			if !c.Known() {
				figures = make([]*float64, len(figures))
			}
			row := append(slices.Clone(p.Values), m.Name, string(m.Unit), strconv.Itoa(len(c.Values)))
			for _, x := range figures {
				cell := ""
				if x != nil {
					cell = printer.Float(*x)
				}
				row = append(row, cell)
			}
			_ = out.Write(append(row, human.OneLine(p.LeftOut), human.OneLine(c.Client), strings.Join(p.Logs, " ")))
		}
	}
	out.Flush()
	return out.Error()
}
