package comparison

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/printer"
)

// Columns of the table of a history.
const (
	historyTime = iota
	historyVersion
	historyLabel
	historyThroughput
	historyChange
	historyVerdict = 8
)

// HistoryText renders a history for people, with a line for each run.
func HistoryText(w io.Writer, h *compare.History, o printer.Options) error {
	p := newPrinter(o)
	for i := range h.Workloads {
		if i > 0 {
			p.Line("")
		}
		p.workload(&h.Workloads[i])
	}
	return p.To(w)
}

func (p *textPrinter) workload(w *compare.Workload) {
	p.Line("%s", p.Bold(fmt.Sprintf("%s: %s", WorkloadTitle(w), human.Plural(len(w.Runs), "run"))))
	t := printer.NewTable([]string{"time", "version", "run", "throughput", "change", "p50", "p99", "errors", "verdict"}, nil, historyThroughput, historyVerdict)
	for i := range w.Runs {
		t.Add(p.pastRun(w, i)...)
	}
	t.Fit(p.MaxWidth(),
		printer.Without(historyVersion),
		func(r []string) { r[historyLabel] = columns.Cut(r[historyLabel], 12) },
		func(r []string) { r[historyTime], _, _ = strings.Cut(r[historyTime], " ") },
		func(r []string) { r[historyVerdict], _, _ = strings.Cut(r[historyVerdict], ":") },
		printer.Without(historyChange),
		printer.Without(historyLabel))
	p.Table(t, func(row, column int, cell string) string {
		if row > 0 && column == historyVerdict {
			return p.paintVerdict(w.Runs[row-1].Verdict, cell)
		}
		return cell
	})
	p.Line("")
	p.Paragraph("", HistoryRemarks(w, p.Location)...)
}

// WorkloadTitle names a workload, with its identity if that is known.
func WorkloadTitle(w *compare.Workload) string {
	if w.ID == "" {
		return w.Name
	}
	return w.Name + " (workload " + w.ID + ")"
}

// pastRun returns the cells of a run.
func (p *textPrinter) pastRun(w *compare.Workload, i int) []string {
	r := &w.Runs[i]
	value := func(c *compare.Series) string {
		if c == nil || c.Values[i] == nil {
			return printer.None
		}
		return MetricText(c.Unit, *c.Values[i], c.Largest())
	}
	return []string{TimeOf(r.Start, p.Location), r.Warp, r.Label, value(w.Main()), orText(r.Change, ""),
		value(w.Total("p50")), value(w.Total("p99")), value(w.Total("errors")), PastVerdict(r)}
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

// TimeOf shows the time of a run to the minute. No location is UTC.
func TimeOf(at time.Time, loc *time.Location) string {
	if at.IsZero() {
		return "unknown"
	}
	return at.In(cmp.Or(loc, time.UTC)).Format("2006-01-02 15:04")
}

// HistoryRemarks says since when the metrics are as they are, and which runs do not count.
func HistoryRemarks(w *compare.Workload, loc *time.Location) (all []string) {
	counted, judged := 0, 0
	for i := range w.Runs {
		if w.Runs[i].Unfit == "" {
			counted++
		}
	}
	for i := range w.Series {
		c := &w.Series[i]
		if c.Judged {
			judged++
		}
		for k := range c.Changes {
			all = append(all, sinceWhen(w, c, k, loc))
		}
	}
	switch {
	case len(all) > 0:
	case judged == 0:
		all = append(all, "No change can be found: these runs have none of the metrics to judge (--judge).")
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
func sinceWhen(w *compare.Workload, c *compare.Series, k int, loc *time.Location) string {
	p := &c.Changes[k]
	r := &w.Runs[p.Run]
	before, after := &c.Stretches[k], &c.Stretches[k+1]
	from, to := Values(c.Unit, before.Median, after.Median)
	text := fmt.Sprintf("%s %s: %s since %s (%s): %s, %s, from %s in %s to %s in %s.", c.Name(), c.Metric, p.Verdict, TimeOf(r.Start, loc), r.Label,
		signed(p.Change, false), interval(p.Low, p.High), from, human.Plural(before.Runs, "run"), to, human.Plural(after.Runs, "run"))
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
	var all []report.RecordedRun
	for i := range h.Workloads {
		for k := range h.Workloads[i].Runs {
			r := &h.Workloads[i].Runs[k]
			all = append(all, report.RecordedRun{Set: r.Set, File: r.File, Label: r.Label, Verdict: string(r.Verdict), Report: r.Report()})
		}
	}
	return report.RunsCSV(w, all)
}
