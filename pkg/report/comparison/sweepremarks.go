package comparison

import (
	"fmt"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/results"
	"warp/pkg/sweep"
)

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
		all = append(all, fmt.Sprintf("The first point, %s, measured again after %s: %s.", sweep.Label(r.Axes, a.Values), human.Brief(time.Duration(a.AfterS*float64(time.Second))), strings.Join(changes, ", ")))
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
		if at == "" {
			return []string{fmt.Sprintf("No conclusion, because %s can be used.", few)}
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
		text += fmt.Sprintf(" Its range overlaps those of %s.", human.And(names))
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
		all = append(all, at+lawText(l, rate))
	}
	return all
}

func lawText(l *sweep.Law, rate func(float64) string) string {
	peak := "no peak"
	if l.Peak > 0 {
		peak = fmt.Sprintf("the peak is at concurrency %.0f with %s", l.Peak, rate(l.PeakThroughput))
	}
	return fmt.Sprintf("Universal Scalability Law: α %.4g, β %.4g, γ %s; %s. The residual standard error is %s (%.1f %%).",
		l.Alpha, l.Beta, rate(l.Gamma), peak, rate(l.Error), l.ErrorPercent)
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
				all = append(all, fmt.Sprintf("%s drifted: at the end, the first point had changed by %+.1f %%, more than repeated runs usually differ.", c.Metric, c.Percent))
			}
		}
	}
	if r.Missing > 0 {
		all = append(all, fmt.Sprintf("%s missing; warp sweep --resume %s makes them.", human.Count(r.Missing, "run is", "runs are"), r.Folder))
	}
	all = append(all, failures(r)...)
	all = append(all, leftOut(r)...)
	for k, m := range r.Metrics {
		if !measured(r, k) {
			all = append(all, fmt.Sprintf("no run has %s; --show chooses other metrics.", m.Name))
		} else if labels := unknownAt(r, k); len(labels) > 0 {
			all = append(all, fmt.Sprintf("the runs of %s have no %s; warp analyze shows their logs.", human.And(labels), m.Name))
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

// failures returns the errors of runs, each error of a point once.
func failures(r *sweep.Result) (all []string) {
	type failure struct{ label, err string }
	times := map[failure]int{}
	var order []failure
	for _, x := range r.Failed {
		f := failure{label: sweep.Label(r.Axes, x.Values)}
		f.err = strings.TrimPrefix(human.OneLine(x.Error), "a run of "+f.label+" failed: ")
		if times[f]++; times[f] == 1 {
			order = append(order, f)
		}
	}
	for _, f := range order {
		often := ""
		if n := times[f]; n > 1 {
			often = fmt.Sprintf(" %d times", n)
		}
		all = append(all, fmt.Sprintf("%s failed%s: %s", f.label, often, f.err))
	}
	return all
}

// unknownAt returns the points whose runs do not have the metric, such as runs with several stages.
func unknownAt(r *sweep.Result, metric int) (labels []string) {
	for i := range r.Points {
		if p := &r.Points[i]; len(p.Logs) > 0 && !p.Cells[metric].Known() {
			labels = append(labels, sweep.Label(r.Axes, p.Values))
		}
	}
	return labels
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
