package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"warp/pkg/results"
)

// check refuses runs that cannot be compared, and collects reasons to withhold
// the verdict.
func (c *comparison) check(v *Verdicts) error {
	if c.Paired && len(c.before) != len(c.after) {
		return &RefusedError{Reason: fmt.Sprintf("pairs need as many runs after as before, and there are %d and %d", len(c.before), len(c.after))}
	}
	before, after := mixture{}, mixture{}
	before.add(c.before)
	after.add(c.after)
	v.Parameters = append(v.Parameters, c.between(before, after)...)
	if why := c.incomparable(v.Parameters); why != "" {
		if !c.Force {
			return &RefusedError{Reason: why, Forced: true}
		}
		v.Warnings = append(v.Warnings, why)
	}
	names := [2]string{"before", "after"}
	for i, name := range c.Names {
		if name != "" {
			names[i] = "of " + name
		}
	}
	v.Withheld = append(v.Withheld, before.mixed(names[0], c.Default)...)
	v.Withheld = append(v.Withheld, after.mixed(names[1], c.Default)...)
	for _, side := range []struct {
		name string
		runs []Run
	}{{names[0], c.before}, {names[1], c.after}} {
		v.Withheld = append(v.Withheld, c.unfit(side.name, side.runs)...)
	}
	return nil
}

// Distinct refuses duplicate runs, because one run would count twice.
func Distinct(runs []Run) error {
	seen := map[string]string{}
	for _, r := range runs {
		for _, id := range r.Report.Runs {
			if other, ok := seen[id]; ok && id != "" {
				return &RefusedError{Reason: fmt.Sprintf("%s and %s are the same run, which must not count twice", other, r.Name)}
			}
		}
		for _, id := range r.Report.Runs {
			seen[id] = r.Name
		}
	}
	return nil
}

// A mixture maps each parameter to its values among the runs of a side, with
// counts.
type mixture map[string]map[string]int

func (m mixture) add(runs []Run) {
	for _, r := range runs {
		for name, value := range Settings(r.Report) {
			if m[name] == nil {
				m[name] = map[string]int{}
			}
			m[name][value]++
		}
	}
	for name, values := range m {
		have := 0
		for _, n := range values {
			have += n
		}
		if have < len(runs) {
			m[name][""] += len(runs) - have
		}
	}
}

// changing lists parameters that may differ between the runs of one side: they
// identify the run and do not affect its load.
func changing(name string) bool {
	return slices.Contains([]string{"seed", "syncstart", "prefix", "bucket", "client-id", "pushgateway", "noclear", "keep-data"}, name)
}

// mixed reports parameters that differ among the runs of one side although they
// should not.
func (m mixture) mixed(side string, byDefault Defaults) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if changing(name) || len(m[name]) < 2 {
			continue
		}
		values := slices.Sorted(maps.Keys(m[name]))
		if len(values) == 2 && values[0] == "" && byDefault.Is(m.only("(benchmark)"), name, values[1]) {
			continue
		}
		for i := range values {
			values[i] = OrNone(values[i])
		}
		all = append(all, fmt.Sprintf("the runs %s are not all the same: %s is %s", side, name, strings.Join(values, " and ")))
	}
	return all
}

// only returns the value that all runs share, or "" if they differ.
func (m mixture) only(name string) string {
	for value := range m[name] {
		if len(m[name]) == 1 {
			return value
		}
	}
	return ""
}

// between lists the parameters that differ between the sides. A parameter that
// only one side knows does not count if it has its default.
func (c *comparison) between(before, after mixture) (all []Parameter) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if len(before[name]) > 1 || len(after[name]) > 1 || changing(name) && name != "bucket" {
			continue // reported elsewhere
		}
		b, a := before.only(name), after.only(name)
		one := before[name] == nil || after[name] == nil // only one side knows it
		if b == a || one && c.Default.Is(after.only("(benchmark)"), name, b+a) {
			continue
		}
		all = append(all, Parameter{Name: name, Before: b, After: a})
	}
	return all
}

// incomparable says why the numbers of the two sides have nothing in common.
func (c *comparison) incomparable(differ []Parameter) string {
	if why := Incomparable(differ); why != "" {
		return why
	}
	return differentSizes(c.before, c.after)
}

// differentSizes compares the observed sizes, for logs that do not record the
// requested sizes.
func differentSizes(before, after []Run) string {
	const tolerance = .1
	mean := func(runs []Run) map[string]float64 {
		all := map[string]float64{}
		for _, r := range runs {
			if len(r.Report.Parameters) > 0 {
				return nil
			}
			for i := range r.Report.Operations {
				o := &r.Report.Operations[i]
				all[o.Op] += o.ObjectBytes.Mean / float64(len(runs))
			}
		}
		return all
	}
	b, a := mean(before), mean(after)
	for _, op := range slices.Sorted(maps.Keys(b)) {
		if x, ok := a[op]; ok && math.Abs(x-b[op]) > tolerance*math.Max(x, b[op]) {
			return fmt.Sprintf("%s moves %.0f bytes per request before and %.0f after", op, b[op], x)
		}
	}
	return ""
}

// unfit returns the runs that cannot be judged, with reasons.
func (c *comparison) unfit(side string, runs []Run) (all []string) {
	var limited, failed, ended []string
	example := ""
	for _, r := range runs {
		if limits := r.Report.ClientLimits(); len(limits) > 0 {
			limited = append(limited, r.Name)
			if example == "" {
				example = limits[0]
			}
		}
		if share := errorShare(r.Report); share > c.MaxErrors {
			failed = append(failed, fmt.Sprintf("%s (%.2g %%)", r.Name, 100*share))
		}
		if endedEarly(r.Report) {
			ended = append(ended, r.Name)
		}
	}
	say := func(names []string, what string) {
		if len(names) > 0 {
			all = append(all, fmt.Sprintf("%d of the %d runs %s %s: %s", len(names), len(runs), side, what, some(names)))
		}
	}
	say(limited, "measured warp's machine and not the store")
	if example != "" {
		all[0] += " (" + example + ")"
	}
	say(failed, fmt.Sprintf("had more than %.3g %% errors", 100*c.MaxErrors))
	say(ended, "ended early")
	return all
}

// Reservations says why runs that become one side of later comparisons would never get a verdict.
// Each is a sentence; there are none if nothing is wrong.
func Reservations(runs []Run, o Options) (all []string) {
	const side = "of the baseline"
	c := &comparison{Options: o}
	m := mixture{}
	m.add(runs)
	all = append(m.mixed(side, o.Default), c.unfit(side, runs)...)
	if n := o.Needed(); len(runs) < n {
		all = append(all, fmt.Sprintf("too few runs: %d, and a verdict takes at least %d on each side", len(runs), n))
	}
	return all
}

// Needed returns the minimum runs per side, or pairs, for a verdict on all metrics that are judged together.
func (o *Options) Needed() int {
	judged := len(o.Judge)
	if judged == 0 {
		judged = len(usuallyJudged)
	}
	return (&comparison{Options: *o}).needed(judged)
}

// Failed returns the number of failed requests in the measured part of a run.
func Failed(r *results.Report) uint64 {
	failed, _ := outcome(r)
	return failed
}

// Unfit says why a run cannot be judged, or "" if it can.
func Unfit(r *results.Report, maxErrors float64) string {
	limits, share := r.ClientLimits(), errorShare(r)
	switch {
	case len(limits) > 0:
		return limits[0]
	case share > maxErrors:
		return fmt.Sprintf("%.2g %% of its requests failed", 100*share)
	case endedEarly(r):
		return "it ended early"
	}
	return ""
}

func endedEarly(r *results.Report) bool { return r.End != "" && r.End != "completed" }

// some lists the first few of many names.
func some(names []string) string {
	const few = 3
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// errorShare returns the share of failed requests in the measured part of a run.
func errorShare(r *results.Report) float64 {
	failed, all := outcome(r)
	if all == 0 {
		return 0
	}
	return float64(failed) / float64(all)
}

// outcome counts the requests in the measured part of a run.
func outcome(r *results.Report) (failed, all uint64) {
	for i := range r.Operations {
		o := &r.Operations[i]
		if r.Groups[o.Group].Kind == "preparation" {
			continue
		}
		failed += o.Errors
		all += o.Errors + o.Inside
	}
	return failed, all
}
