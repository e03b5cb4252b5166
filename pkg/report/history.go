package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/results"
)

// HistoryJSON renders a history as one JSON document.
func HistoryJSON(w io.Writer, h *compare.History) error { return writeJSON(w, h) }

// Columns of the table of a history.
const (
	historyTime = iota
	historyVersion
	historyLabel
	historyThroughput
	historyChange
	historyP50
	historyP99
	historyErrors
	historyVerdict
	historyColumns
)

// HistoryText renders a history for people, with a line for each run.
func HistoryText(w io.Writer, h *compare.History, o TextOptions) error {
	p := &printer{o: o}
	for i := range h.Workloads {
		if i > 0 {
			p.line("")
		}
		p.workload(&h.Workloads[i])
	}
	_, err := w.Write(p.Bytes())
	return err
}

func (p *printer) workload(w *compare.Workload) {
	p.line("%s", p.bold(fmt.Sprintf("%s: %s", w.Name, human.Count(len(w.Runs), "run", "runs"))))
	t := &table{right: []bool{false, false, false, true, true, true, true, true, false}}
	t.add("time", "version", "run", "throughput", "change", "p50", "p99", "errors", "verdict")
	for i := range w.Runs {
		t.add(p.pastRun(w, i)...)
	}
	p.fit(t,
		func(r []string) { r[historyVersion] = "" },
		func(r []string) { r[historyLabel] = Cut(r[historyLabel], 11) },
		func(r []string) { r[historyTime], _, _ = strings.Cut(r[historyTime], " ") },
		func(r []string) { r[historyVerdict], _, _ = strings.Cut(r[historyVerdict], ":") },
		func(r []string) { r[historyChange] = "" },
		func(r []string) { r[historyLabel] = "" })
	lines := t.lines(func(row, column int, cell string) string {
		if row > 0 && column == historyVerdict {
			return p.paintVerdict(w.Runs[row-1].Verdict, cell)
		}
		return cell
	})
	for _, l := range lines {
		p.line("%s", l)
	}
	p.line("")
	for _, s := range HistoryRemarks(w, p.o.Location) {
		p.line("%s", wrap(s, 0, p.width(), "  "))
	}
}

// pastRun returns the cells of a run.
func (p *printer) pastRun(w *compare.Workload, i int) []string {
	r := &w.Runs[i]
	cells := make([]string, historyColumns)
	cells[historyTime], cells[historyVersion], cells[historyLabel] = timeOf(r.Start, p.o.Location), r.Warp, r.Label
	value := func(c *compare.Course) string {
		if c == nil || c.Values[i] == nil {
			return None
		}
		return MetricText(c.Unit, *c.Values[i], largestOf(c))
	}
	cells[historyThroughput] = value(w.Main())
	cells[historyP50], cells[historyP99], cells[historyErrors] = value(w.Total("p50")), value(w.Total("p99")), value(w.Total("errors"))
	if r.Change != nil {
		cells[historyChange] = fmt.Sprintf("%+.1f%%", *r.Change)
	}
	cells[historyVerdict] = PastVerdict(r)
	return cells
}

// PastVerdict says in a few words what the verdict on a run is.
func PastVerdict(r *compare.PastRun) string {
	switch {
	case r.Verdict == "" && r.Unfit != "":
		return "left out"
	case r.Verdict == "", r.Verdict == compare.TooFew:
		return "-"
	case len(r.Details) > 0:
		return string(r.Verdict) + ": " + strings.Join(r.Details, ", ")
	}
	return string(r.Verdict)
}

func largestOf(c *compare.Course) (largest float64) {
	for _, v := range c.Values {
		if v != nil {
			largest = max(largest, *v)
		}
	}
	return largest
}

// timeOf shows the time of a run to the minute.
func timeOf(at time.Time, loc *time.Location) string {
	if at.IsZero() {
		return "unknown"
	}
	if loc == nil {
		loc = time.UTC
	}
	return at.In(loc).Format("2006-01-02 15:04")
}

// HistoryRemarks says since when the metrics are as they are, and which runs do not count.
func HistoryRemarks(w *compare.Workload, loc *time.Location) (all []string) {
	counted, judged := 0, 0
	for i := range w.Runs {
		if w.Runs[i].Unfit == "" {
			counted++
		}
	}
	for i := range w.Courses {
		c := &w.Courses[i]
		if c.Judged {
			judged++
		}
		for k := range c.Changes {
			all = append(all, sinceWhen(w, c, k, loc))
		}
	}
	switch {
	case judged == 0 || len(all) > 0:
	case counted < w.Needed:
		all = append(all, fmt.Sprintf("%s: no change can be found, at least %d are needed.", human.Plural(counted, "run"), w.Needed))
	default:
		all = append(all, fmt.Sprintf("No change was found in %s.", human.Plural(counted, "run")))
	}
	for i := range w.Runs {
		if r := &w.Runs[i]; r.Unfit != "" {
			all = append(all, fmt.Sprintf("%s is left out: %s.", r.File, strings.TrimSuffix(r.Unfit, ".")))
		}
	}
	return all
}

// sinceWhen describes a change of a metric.
func sinceWhen(w *compare.Workload, c *compare.Course, k int, loc *time.Location) string {
	p := &c.Changes[k]
	r := &w.Runs[p.Run]
	before, after := &c.Stretches[k], &c.Stretches[k+1]
	largest := max(before.Median, after.Median)
	text := fmt.Sprintf("%s %s: %s since %s (%s): %s, %s…%s, from %s in %s to %s in %s.", SubjectLabel(c.Op, c.Statement, false, ""), c.Metric, p.Verdict,
		timeOf(r.Start, loc), r.Label, signed(p.Change, false), bounded(p.Low, "-∞"), bounded(p.High, "+∞"),
		MetricText(c.Unit, before.Median, largest), human.Plural(before.Runs, "run"), MetricText(c.Unit, after.Median, largest), human.Plural(after.Runs, "run"))
	var differ []string
	for _, x := range p.Parameters {
		differ = append(differ, fmt.Sprintf("%s from %s to %s", x.Name, compare.OrNone(x.Before), compare.OrNone(x.After)))
	}
	if len(differ) > 0 {
		text += " Parameters that changed with it: " + strings.Join(differ, ", ") + "."
	}
	return text
}

// HistoryCSV renders a line for each operation and run.
func HistoryCSV(w io.Writer, h *compare.History) error {
	var all []RecordedRun
	for i := range h.Workloads {
		for k := range h.Workloads[i].Runs {
			r := &h.Workloads[i].Runs[k]
			all = append(all, RecordedRun{Set: r.Set, File: r.File, Label: r.Label, Verdict: string(r.Verdict), Report: r.Report()})
		}
	}
	return RunsCSV(w, all)
}

// A RecordedRun is a run in a table of runs.
type RecordedRun struct {
	Set, File, Label string
	Verdict          string
	Report           *results.Report
}
