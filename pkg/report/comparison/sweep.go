package comparison

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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
	for _, s := range SweepRemarks(r) {
		p.Sentences(s)
	}
	for _, s := range SweepWarnings(r) {
		p.Paragraph("Warning:", s)
	}
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
	p.Line("")
	for _, leave := range []string{"95 %", "range"} { // where there is no room
		if t.Width() <= p.MaxWidth() {
			break
		}
		for i, title := range head {
			if title == leave {
				for _, row := range t.Rows {
					row[i] = ""
				}
			}
		}
	}
	p.Table(t, func(row, _ int, cell string) string {
		switch {
		case row == 0:
			return p.Bold(cell)
		case strings.HasSuffix(cell, leftOutMark):
			return p.Paint(cell, color.FgYellow)
		}
		return cell
	})
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
		p.Table(t, func(row, column int, cell string) string {
			if row > 0 && strings.HasSuffix(cell, leftOutMark) {
				return p.Paint(cell, color.FgYellow)
			}
			return cell
		})
	}
}

func sweepMatrices(r *sweep.Result, turned bool) (all []*printer.Table) {
	for m := range r.Metrics {
		head, rows := sweepMatrix(r, m, turned)
		all = append(all, printer.NewTable(head, rows, 0, len(head)))
	}
	return all
}

// Size of the curve in characters.
const (
	curveHeight = 8
	curveWidth  = 72
)

// curve draws the first metric over the axis with more values, a line for each value of the other one.
func (p *textPrinter) curve(r *sweep.Result) {
	axis := 0
	if len(r.Axes) > 1 && len(r.Axes[1].Values) > len(r.Axes[0].Values) {
		axis = 1
	}
	lines := sweep.Lines(r.Axes, axis)
	largest := 0.0
	for i := range r.Points {
		largest = math.Max(largest, r.Points[i].Cells[0].Median)
	}
	n := len(r.Axes[axis].Values)
	if n < 3 || largest == 0 || len(lines) > 9 {
		return
	}
	label := MetricText(r.Metrics[0].Unit, largest, largest)
	left := len([]rune(label)) + 1
	width := min(curveWidth, p.MaxWidth()-left-1)
	if width < 2*n {
		return
	}
	grid := make([][]rune, curveHeight)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", width))
	}
	place := func(k int, y float64) (int, int) {
		return k * (width - 1) / (n - 1), curveHeight - 1 - int(math.Round(y/largest*(curveHeight-1)))
	}
	for i, line := range lines {
		mark := '•'
		if len(lines) > 1 {
			mark = rune('1' + i)
		}
		draw(grid, r, line, place, mark)
	}
	p.Line("")
	for i, row := range grid {
		at := ""
		switch i {
		case 0:
			at = label
		case curveHeight - 1:
			at = "0"
		}
		p.Line("%*s│%s", left-1, at, strings.TrimRight(string(row), " "))
	}
	values := r.Axes[axis].Values
	first, last := values[0], values[n-1]
	gap := max(1, width-len([]rune(first))-len([]rune(last)))
	p.Line("%*s└%s", left-1, "", strings.Repeat("─", width))
	p.Line("%*s%s%s%s", left, "", first, strings.Repeat(" ", gap), last)
	note := r.Metrics[0].Name + " over " + r.Axes[axis].Flag
	if len(lines) > 1 {
		var names []string
		for i, v := range r.Axes[1-axis].Values {
			names = append(names, fmt.Sprintf("%d: %s", i+1, v))
		}
		note += "; " + r.Axes[1-axis].Flag + " " + strings.Join(names, ", ")
	}
	p.Sentences(note)
}

// draw draws a line of points.
func draw(grid [][]rune, r *sweep.Result, line []int, place func(int, float64) (int, int), mark rune) {
	before := -1
	for k, point := range line {
		c := &r.Points[point].Cells[0]
		if !c.Known() {
			before = -1
			continue
		}
		x, y := place(k, c.Median)
		if before >= 0 {
			fromX, fromY := place(before, r.Points[line[before]].Cells[0].Median)
			for at := fromX + 1; at < x; at++ {
				row := fromY + int(math.Round(float64(y-fromY)*float64(at-fromX)/float64(x-fromX)))
				if grid[row][at] == ' ' {
					grid[row][at] = '·'
				}
			}
		}
		grid[y][x] = mark
		before = k
	}
}

// SweepRemarks returns the conclusions in words.
func SweepRemarks(r *sweep.Result) (all []string) {
	for i := range r.Conclusions {
		all = append(all, conclusion(r, &r.Conclusions[i])...)
	}
	if a := r.Again; a != nil && len(a.Changes) > 0 {
		var changes []string
		for _, c := range a.Changes {
			changes = append(changes, fmt.Sprintf("%s %+.1f %%", c.Metric, c.Percent))
		}
		all = append(all, fmt.Sprintf("The first point, %s, once more after %s: %s.", sweep.Label(r.Axes, a.Values), human.Brief(time.Duration(a.AfterS*float64(time.Second))), strings.Join(changes, ", ")))
	}
	return all
}

// conclusion says what follows from the points along the axis of concurrency.
func conclusion(r *sweep.Result, c *sweep.Conclusion) (all []string) {
	at := ""
	if c.At != "" {
		at = c.At + ": "
	}
	if c.Best == nil {
		few := "no point"
		if c.Points > 0 {
			few = "only " + human.Plural(c.Points, "point")
		}
		return []string{fmt.Sprintf("%sno conclusion, because %s can be used.", at, few)}
	}
	metric, _ := results.FindMetric(c.Metric)
	rate := func(x float64) string { return MetricText(metric.Unit, x, x) }
	text := fmt.Sprintf("%sconcurrency %g is the smallest with at least 95 %% of the best throughput: %s; the best is %s at %g.", at, c.Enough.Concurrency,
		rate(c.Enough.Median), rate(c.Best.Median), c.Best.Concurrency)
	if c.Enough.Concurrency == c.Best.Concurrency {
		text = fmt.Sprintf("%sconcurrency %g has the best throughput, %s, and no smaller one has 95 %% of it.", at, c.Best.Concurrency, rate(c.Best.Median))
	}
	if at == "" {
		text = human.UpperFirst(text)
	}
	if c.Growing {
		text += " No larger concurrency was measured, and a larger one may be better."
	}
	if n := len(c.Neighbours); n > 0 && r.Repeats > 1 {
		var names []string
		for _, l := range c.Neighbours {
			names = append(names, fmt.Sprintf("%g", l.Concurrency))
		}
		text += fmt.Sprintf(" The ranges cannot tell %s from it.", human.And(names))
	}
	if c.Enough.P99 != nil {
		text += fmt.Sprintf(" p99 is %s there", p99Of(c.Enough))
		if c.Half != nil && c.Half.P99 != nil {
			text += fmt.Sprintf(", and %s at half of it, with %.0f %% of the throughput", p99Of(c.Half), 100*c.Half.Median/c.Enough.Median)
		}
		text += "."
	}
	if c.LeftOut > 0 {
		text += fmt.Sprintf(" %s left out.", human.Count(c.LeftOut, "point is", "points are"))
	}
	if c.NoLaw != "" && c.Points >= 6 {
		text += fmt.Sprintf(" %s, so the Universal Scalability Law is not fitted.", human.UpperFirst(c.NoLaw))
	}
	all = append(all, text)
	if l := c.Law; l != nil {
		peak := "no peak"
		if l.Peak > 0 {
			peak = fmt.Sprintf("the peak is at concurrency %.0f with %s", l.Peak, rate(l.PeakThroughput))
		}
		all = append(all, fmt.Sprintf("%sUniversal Scalability Law: α %.4g, β %.4g, γ %s; %s. The residual standard error is %s (%.1f %%).",
			at, l.Alpha, l.Beta, rate(l.Gamma), peak, rate(l.Error), l.ErrorPercent))
	}
	return all
}

func p99Of(l *sweep.Level) string {
	text := human.Millis(*l.P99)
	if l.ClientsP99 {
		text += " (this machine's)"
	}
	return text
}

// SweepWarnings returns what is wrong with the sweep.
func SweepWarnings(r *sweep.Result) (all []string) {
	if a := r.Again; a != nil {
		for _, c := range a.Changes {
			if c.Drifted {
				all = append(all, fmt.Sprintf("%s has drifted: the first point had %+.1f %% at the end, more than runs of the same thing usually differ.", c.Metric, c.Percent))
			}
		}
	}
	if r.Missing > 0 {
		all = append(all, fmt.Sprintf("%s missing; warp sweep --resume %s makes them.", human.Count(r.Missing, "run is", "runs are"), r.Folder))
	}
	for _, f := range r.Failed {
		all = append(all, fmt.Sprintf("%s failed: %s", sweep.Label(r.Axes, f.Values), human.OneLine(f.Error)))
	}
	all = append(all, leftOut(r)...)
	for k, m := range r.Metrics {
		if !measured(r, k) {
			all = append(all, fmt.Sprintf("no run has %s; --show chooses other metrics.", m.Name))
		}
	}
	for k, m := range r.Metrics {
		var labels []string
		for i := range r.Points {
			if p := &r.Points[i]; p.LeftOut == "" && p.Cells[k].Client != "" {
				labels = append(labels, shortLabel(r, p))
			}
		}
		if len(labels) > 0 {
			all = append(all, fmt.Sprintf("%s describes this machine and not the store (%s) at %s.", m.Name, leftOutMark, human.And(labels)))
		}
	}
	return all
}

// measured reports whether a run has the metric, or there is no run at all.
func measured(r *sweep.Result, metric int) bool {
	runs := false
	for i := range r.Points {
		if r.Points[i].Cells[metric].Known() {
			return true
		}
		runs = runs || len(r.Points[i].Logs) > 0
	}
	return !runs
}

// shortLabel names a point in a list: with one axis, its value says enough.
func shortLabel(r *sweep.Result, p *sweep.Point) string {
	if len(p.Values) == 1 {
		return p.Values[0]
	}
	return sweep.Label(r.Axes, p.Values)
}

// maxLeftOut is the number of points whose reasons are shown. JSON and CSV have all of them.
const maxLeftOut = 3

// leftOut says which points are left out of conclusions, and why.
func leftOut(r *sweep.Result) (all []string) {
	var more []string
	for i := range r.Points {
		p := &r.Points[i]
		switch {
		case p.LeftOut == "":
		case len(all) < maxLeftOut:
			all = append(all, fmt.Sprintf("%s is left out of conclusions (%s): %s", sweep.Label(r.Axes, p.Values), leftOutMark, strings.TrimSuffix(human.OneLine(p.LeftOut), ".")+"."))
		default:
			more = append(more, shortLabel(r, p))
		}
	}
	if len(more) > 0 {
		all = append(all, fmt.Sprintf("%s, too: %s; --csv has the reasons.", human.Count(len(more), "point is left out", "points are left out"), strings.Join(more, ", ")))
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
	out := csv.NewWriter(w)
	var head []string
	for _, a := range r.Axes {
		head = append(head, a.Flag)
	}
	_ = out.Write(append(head, "metric", "unit", "runs", "median", "min", "max", "low", "high", "left_out", "client", "logs"))
	for i := range r.Points {
		p := &r.Points[i]
		for k, m := range r.Metrics {
			c := &p.Cells[k]
			row := append(slices.Clone(p.Values), m.Name, string(m.Unit), strconv.Itoa(len(c.Values)))
			for _, x := range []float64{c.Median, c.Min, c.Max} {
				if !c.Known() {
					row = append(row, "")
					continue
				}
				row = append(row, printer.Float(x))
			}
			for _, x := range []*float64{c.Low, c.High} {
				if x == nil {
					row = append(row, "")
					continue
				}
				row = append(row, printer.Float(*x))
			}
			_ = out.Write(append(row, human.OneLine(p.LeftOut), human.OneLine(c.Client), strings.Join(p.Logs, " ")))
		}
	}
	out.Flush()
	return out.Error()
}

// SweepComparisonText renders the comparison of two sweeps for people.
func SweepComparisonText(w io.Writer, c *sweep.Comparison, o printer.Options) error {
	p := newPrinter(o)
	p.Line("%s -> %s: %s", c.Before, c.After, human.Plural(c.Points, "point"))
	p.Line("")
	head, rows := SweepOverall(c)
	t := p.newVerdictTable(head...)
	for i, row := range rows {
		t.add(c.Overall[i].Verdict, row...)
	}
	t.print()
	if head, rows := SweepByPoint(c); len(rows) > 0 {
		p.Line("")
		t := p.newVerdictTable(head...)
		for i, row := range rows {
			t.add(c.ByPoint[i].Row.Verdict, row...)
		}
		t.print()
	}
	p.Line("")
	for _, s := range SweepComparisonRemarks(c) {
		p.Sentences(s)
	}
	for _, s := range c.Warnings {
		p.Paragraph("Warning:", s+".")
	}
	for _, s := range c.LeftOut {
		p.Paragraph("Left out:", strings.TrimSuffix(s, ".")+".")
	}
	return p.To(w)
}

// SweepOverall returns the changes over all points.
func SweepOverall(c *sweep.Comparison) (head []string, rows [][]string) {
	head = []string{"all points", "change", "interval", "p", "points", "verdict"}
	for _, x := range c.Overall {
		between := ""
		if x.Low != nil || x.High != nil {
			between = interval(x.Low, x.High)
		}
		change := printer.None
		if x.Change != nil {
			change = signed(x.Change, false)
		}
		rows = append(rows, []string{x.Metric, change, between, probability(x.P), strconv.Itoa(x.Points), string(x.Verdict)})
	}
	return head, rows
}

// SweepByPoint returns the changes at each point.
func SweepByPoint(c *sweep.Comparison) (head []string, rows [][]string) {
	head = []string{"point", "metric", "before", "after", "change", "verdict"}
	last := ""
	for i := range c.ByPoint {
		x, name := &c.ByPoint[i].Row, c.ByPoint[i].Point
		if name == last {
			name = ""
		}
		last = c.ByPoint[i].Point
		before, after := Medians(x)
		rows = append(rows, []string{name, x.Metric, before, after, signed(x.Change, x.Before.Median == x.After.Median), verdictCell(x.Verdict)})
	}
	return head, rows
}

// SweepComparisonRemarks returns the sentences below the tables.
func SweepComparisonRemarks(c *sweep.Comparison) []string {
	var all []string
	if c.First != "" {
		all = append(all, fmt.Sprintf("%s was made before the other one, so anything that changed in between looks like a difference.", c.First))
	}
	return append(all, fmt.Sprintf("The verdicts over all points come from ranks within each point (Hodges and Lehmann's aligned ranks), with Holm's correction; "+
		"equivalent: the whole interval lies within ±%g%%. Verdicts on single points take at least four runs a side, and are corrected for their number.", c.MinEffect))
}
