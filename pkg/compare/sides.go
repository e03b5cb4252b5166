package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"warp/pkg/identity"
	"warp/pkg/results"
)

// check refuses runs that cannot be compared, and collects reasons to withhold
// the verdict.
func (c *comparison) check(v *Verdicts) error {
	if c.Paired && len(c.before) != len(c.after) {
		return &RefusedError{Reason: fmt.Sprintf("pairs need as many runs after as before, and there are %d and %d", len(c.before), len(c.after))}
	}
	before, after := mixtureOf(c.before), mixtureOf(c.after)
	v.Parameters = append(v.Parameters, between(before, after)...)
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
	v.Withheld = append(v.Withheld, before.mixed(names[0])...)
	v.Withheld = append(v.Withheld, after.mixed(names[1])...)
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
				if other == r.Name { // such as a file that two patterns match
					return &RefusedError{Reason: r.Name + " is named twice, and one run must not count twice"}
				}
				return &RefusedError{Reason: fmt.Sprintf("%s and %s are the same run, which must not count twice", other, r.Name)}
			}
		}
		for _, id := range r.Report.Runs {
			seen[id] = r.Name
		}
	}
	return nil
}

// A mixture has the facts about the runs of a side.
type mixture struct {
	runs          int
	settings      map[string]map[string]int // values with the number of runs that have them
	circumstances map[string]map[string]int
	unknown       string // why the workload of a run is unknown
}

func mixtureOf(runs []Run) *mixture {
	m := &mixture{runs: len(runs), settings: map[string]map[string]int{}, circumstances: map[string]map[string]int{}}
	for _, r := range runs {
		f := FactsOf(r.Report)
		if f.Settings == nil {
			m.unknown = f.Workload.Unknown
		}
		count(m.settings, f.Settings)
		count(m.circumstances, f.Circumstances)
	}
	complete(m.settings, len(runs))
	complete(m.circumstances, len(runs))
	return m
}

func count(all map[string]map[string]int, values map[string]string) {
	for name, value := range values {
		if all[name] == nil {
			all[name] = map[string]int{}
		}
		all[name][value]++
	}
}

// complete counts the runs that lack a value.
func complete(all map[string]map[string]int, runs int) {
	for _, values := range all {
		have := 0
		for _, n := range values {
			have += n
		}
		if have < runs {
			values[""] += runs - have
		}
	}
}

// mixed reports what differs among the runs of one side although it should not.
func (m *mixture) mixed(side string) (all []string) {
	for _, values := range []map[string]map[string]int{m.settings, m.circumstances} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if identity.MayVary(name) || len(values[name]) < 2 {
				continue
			}
			different := slices.Sorted(maps.Keys(values[name]))
			for i := range different {
				different[i] = OrNone(different[i])
			}
			all = append(all, fmt.Sprintf("the runs %s are not all the same: %s is %s", side, name, strings.Join(different, " and ")))
		}
	}
	return all
}

// common returns the facts that all runs of a side share. Settings are nil if a workload is unknown.
func (m *mixture) common() (f Facts) {
	only := func(all map[string]map[string]int) map[string]string {
		values := map[string]string{}
		for name := range all {
			if len(all[name]) == 1 {
				for value := range all[name] {
					values[name] = value
				}
			}
		}
		return values
	}
	if f.Circumstances = only(m.circumstances); m.unknown == "" && m.runs > 0 {
		f.Settings = only(m.settings)
	}
	return f
}

// between lists what differs between the sides. What differs among the runs of one side is reported elsewhere.
func between(before, after *mixture) []Parameter {
	return slices.DeleteFunc(differing(before.common(), after.common()), func(p Parameter) bool {
		b, a := before.circumstances[p.Name], after.circumstances[p.Name]
		if p.Workload {
			b, a = before.settings[p.Name], after.settings[p.Name]
		}
		return len(b) > 1 || len(a) > 1
	})
}

// incomparable says why the numbers of the two sides have nothing in common.
func (c *comparison) incomparable(differ []Parameter) string {
	if why := Incomparable(differ); why != "" {
		return why
	}
	if why := otherWorkload(differ); why != "" && c.SameWorkload {
		return "the runs have another workload: " + why
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
	say(limited, "may have measured warp's machine and not the store")
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
	all = append(mixtureOf(runs).mixed(side), c.unfit(side, runs)...)
	if n := o.Needed(1); len(runs) < n {
		all = append(all, fmt.Sprintf("too few runs: %d, and a verdict takes at least %d on each side", len(runs), n))
	}
	return all
}

// ClientsFigures names the judged figures of runs that describe their machine rather than the store, each with the reason.
// Comparisons may withhold their verdicts.
func ClientsFigures(runs []Run, o Options) (all []string) {
	c := &comparison{Options: o, before: runs}
	subjects, _ := c.subjects()
	for _, s := range subjects {
		for _, m := range results.Metrics() {
			if why := clientsRuns(&m, s.before); why != "" && c.judged(s, m.Name, s.hasBytes()) {
				all = append(all, fmt.Sprintf("%s %s: %s", s, m.Name, why))
			}
		}
	}
	return all
}

// Needed returns the minimum runs per side, or pairs, for a verdict on all metrics of so many comparisons that are judged together.
func (o *Options) Needed(comparisons int) int {
	judged := len(o.Judge)
	if judged == 0 {
		judged = len(usuallyJudged)
	}
	return (&comparison{Options: *o}).needed(judged * comparisons)
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
		if r.Groups[o.Group].Kind == results.KindPreparation {
			continue
		}
		failed += o.Errors
		all += o.Errors + o.Inside
	}
	return failed, all
}
