package compare

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// MaxSets is the maximum number of sets that are compared with each other.
const MaxSets = 8

// A Set is a set of runs.
type Set struct {
	Name string // "" = before or after
	Runs []Run
}

// Comparisons are comparisons of two or more sets of runs, whose p-values are corrected for their number together.
type Comparisons struct {
	Version     int         `json:"version"`         // 1
	Kind        string      `json:"kind"`            // "comparisons"
	AllPairs    bool        `json:"all_pairs"`       // each set was compared with all others, not only with the first
	Together    int         `json:"judged_together"` // p-values that were corrected for their number
	Verdict     Verdict     `json:"verdict"`         // of all comparisons, by the same order as the verdict of one
	Comparisons []*Verdicts `json:"comparisons"`     // in the order of the sets
}

// Single returns a comparison by itself.
func Single(v *Verdicts) *Comparisons {
	return &Comparisons{Version: 1, Kind: "comparisons", Verdict: v.Verdict, Comparisons: []*Verdicts{v}}
}

// Document returns what JSON contains: a single comparison is a document by itself.
func (c *Comparisons) Document() any {
	if len(c.Comparisons) == 1 {
		return c.Comparisons[0]
	}
	return c
}

// Count returns the number of comparisons among sets: of each with the first, or of all pairs.
func Count(sets int, allPairs bool) int {
	if allPairs {
		return sets * (sets - 1) / 2
	}
	return sets - 1
}

// JudgeSets compares each set of runs with the first, or all pairs of them. The chance of one or more false alarms in any of
// the comparisons is at most Alpha.
func JudgeSets(sets []Set, allPairs bool, o Options) (*Comparisons, error) {
	var runs []Run
	for _, s := range sets {
		runs = append(runs, s.Runs...)
	}
	if err := Distinct(runs); err != nil {
		return nil, err
	}
	if o.planner == nil {
		o.planner = &stats.Planner{}
	}
	var all []*comparison
	for i := range sets {
		for k := i + 1; k < len(sets) && (i == 0 || allPairs); k++ {
			c, err := newComparison(sets[i], sets[k], o)
			if err != nil {
				return nil, of(err, sets, i, k)
			}
			all = append(all, c)
		}
	}
	result := &Comparisons{Version: 1, Kind: "comparisons", AllPairs: allPairs, Together: judgeAll(all)}
	var verdicts []Verdict
	for _, c := range all {
		c.v.Verdict = c.v.overall()
		verdicts = append(verdicts, c.v.Verdict)
		result.Comparisons = append(result.Comparisons, c.v)
	}
	result.Verdict = Overall(verdicts)
	return result, nil
}

// of says which of several comparisons an error is about.
func of(err error, sets []Set, i, k int) error {
	var refused *RefusedError
	if len(sets) == 2 || !errors.As(err, &refused) {
		return err
	}
	return &RefusedError{Reason: fmt.Sprintf("%s and %s: %s", sets[i].Name, sets[k].Name, refused.Reason), Forced: refused.Forced}
}

// newComparison computes everything about two sets of runs except verdicts.
func newComparison(before, after Set, o Options) (*comparison, error) {
	o.Names = [2]string{before.Name, after.Name}
	c := &comparison{Options: o, before: before.Runs, after: after.Runs, planner: o.planner}
	c.v = &Verdicts{
		Version: 1, Kind: "verdicts", Before: side(c.before), After: side(c.after), Paired: o.Paired, MinEffect: 100 * o.MinEffect,
		Withheld: []string{}, Warnings: []string{}, Parameters: []Parameter{}, Missing: []string{}, Subjects: []Subject{},
	}
	v := c.v
	v.Before.Name, v.After.Name, v.Named = before.Name, after.Name, o.Names != [2]string{}
	if err := c.check(v); err != nil {
		return nil, err
	}
	v.Sequence = sequence(c.before, c.after)
	c.times = timesOf(v.Sequence, c.before, c.after)
	subjects, missing := c.subjects()
	v.Missing = append(v.Missing, missing...)
	return c, c.tables(subjects)
}

// judgeAll sets the verdicts of all comparisons, and returns how many p-values were corrected for their number. The shares
// of a host are judged by themselves.
func judgeAll(all []*comparison) (together int) {
	families := map[string][]candidate{}
	for _, c := range all {
		for s, r := range c.v.Rows() {
			if r.Judged {
				families[s.Host] = append(families[s.Host], candidate{r, c})
			}
		}
	}
	for _, c := range all {
		c.v.Needed = c.needed(len(families[""]))
	}
	for _, host := range slices.Sorted(maps.Keys(families)) {
		if n := judgeTogether(families[host]); host == "" {
			together = n
		}
	}
	return together
}

// Judged returns the number of metrics that are judged in all comparisons.
func (c *Comparisons) Judged() (n int) {
	for _, v := range c.Comparisons {
		n += len(v.Judged())
	}
	return n
}

// Settled reports whether more runs cannot add a verdict: each comparison has one on all judged metrics, or its runs are unfit for any.
func (c *Comparisons) Settled() bool {
	return !slices.ContainsFunc(c.Comparisons, func(v *Verdicts) bool { return !v.decided() && len(v.Withheld) == 0 })
}

// Sets returns the sides of all comparisons, each once, in their order.
func (c *Comparisons) Sets() (all []*Side) {
	if len(c.Comparisons) == 0 {
		return nil
	}
	all = append(all, &c.Comparisons[0].Before)
	for _, v := range c.Comparisons {
		if v.Before.Name == all[0].Name {
			all = append(all, &v.After)
		}
	}
	return all
}

// Places returns the indices in [Comparisons.Sets] of the sides of the comparison with the number k.
func (c *Comparisons) Places(k int) (before, after int) {
	if !c.AllPairs {
		return 0, 1 + k
	}
	before, after = 0, 1
	for range k {
		if after++; after == len(c.Sets()) {
			before++
			after = before + 1
		}
	}
	return before, after
}

// A Panel is one metric in all comparisons.
type Panel struct {
	Metric  string
	Unit    results.Unit
	Judged  bool
	Samples []Sample // of each set; without values if no comparison has the metric of this set
	Rows    []*Row   // of each comparison; nil if its runs lack the metric
}

// Largest returns the largest median, which decides on the unit.
func (p *Panel) Largest() (largest float64) {
	for _, s := range p.Samples {
		largest = max(largest, s.Median)
	}
	return largest
}

// Panels returns the metrics of a subject in all comparisons, in the order of tables.
func (c *Comparisons) Panels(of *Subject) (all []Panel) {
	sets := c.Sets()
	for _, m := range results.Metrics() {
		p := Panel{Metric: m.Name, Unit: m.Unit, Samples: make([]Sample, len(sets)), Rows: make([]*Row, len(c.Comparisons))}
		found := false
		for i, v := range c.Comparisons {
			r := v.find(of, m.Name)
			if r == nil {
				continue
			}
			found = true
			p.Rows[i], p.Judged = r, p.Judged || r.Judged
			before, after := c.Places(i)
			p.Samples[before], p.Samples[after] = r.Before, r.After
		}
		if found {
			all = append(all, p)
		}
	}
	return all
}

// find returns the metric of the same subject, or nil.
func (v *Verdicts) find(of *Subject, metric string) *Row {
	for s, r := range v.Rows() {
		if s.Name() == of.Name() && r.Metric == metric {
			return r
		}
	}
	return nil
}

// Subjects returns the subjects of all comparisons, each once.
func (c *Comparisons) Subjects() (all []*Subject) {
	for _, v := range c.Comparisons {
		for i := range v.Subjects {
			s := &v.Subjects[i]
			if !slices.ContainsFunc(all, func(o *Subject) bool { return o.Name() == s.Name() }) {
				all = append(all, s)
			}
		}
	}
	return all
}
