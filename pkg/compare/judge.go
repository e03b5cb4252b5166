package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// A comparison holds the state of a comparison in progress.
type comparison struct {
	Options
	before, after []Run
	planner       *stats.Planner
	times         *times    // of the runs, if their order may explain a change; else nil
	v             *Verdicts // what was found so far
}

func (c *comparison) design() stats.Design {
	if c.Paired {
		return stats.Pairs(len(c.before))
	}
	return stats.Sides(len(c.before), len(c.after))
}

// A subject is a Subject with the figures of all runs.
type subject struct {
	Name
	total         bool
	before, after []results.Figures
}

// subjects returns the total, the measured operations, and their shares by
// host, if all runs have them.
func (c *comparison) subjects() (all []*subject, missing []string) {
	var order []Name
	found := map[Name]*subject{}
	add := func(k Name, total bool, f results.Figures, after bool) {
		s := found[k]
		if s == nil {
			s = &subject{Name: k, total: total}
			found[k], order = s, append(order, k)
		}
		if after {
			s.after = append(s.after, f)
		} else {
			s.before = append(s.before, f)
		}
	}
	for _, r := range c.after {
		c.figures(r.Report, func(k Name, total bool, f results.Figures) { add(k, total, f, true) })
	}
	for _, r := range c.before {
		c.figures(r.Report, func(k Name, total bool, f results.Figures) { add(k, total, f, false) })
	}
	for _, k := range order {
		if s := found[k]; len(s.before) == len(c.before) && len(s.after) == len(c.after) {
			all = append(all, s)
		} else {
			missing = append(missing, s.String())
		}
	}
	return all, missing
}

// figures calls add with everything in a report that has metrics, each name
// once.
func (c *comparison) figures(r *results.Report, add func(Name, bool, results.Figures)) {
	seen := map[Name]bool{}
	once := func(k Name, total bool, f results.Figures) {
		if !seen[k] {
			seen[k] = true
			f.SentLate = r.SentLate()
			add(k, total, f)
		}
	}
	main := r.MainGroup()
	total, ok := r.Total()
	if ok {
		once(Name{Op: total.Op}, true, total)
	}
	for i := range r.Operations {
		o := &r.Operations[i]
		if main >= 0 && o.Group != main || r.Groups[o.Group].Kind == results.KindPreparation {
			continue
		}
		k := NameOf(o)
		if !(ok && total.Op == o.Op) {
			once(k, !ok && !o.Warmup, o.Figures())
		}
		if !c.Hosts {
			continue
		}
		for p := range o.Hosts {
			k.Host = o.Hosts[p].Name
			once(k, false, o.PartFigures(&o.Hosts[p]))
		}
	}
}

// tables fills in the rows, without verdicts.
func (c *comparison) tables(subjects []*subject) error {
	v := c.v
	v.Subjects = make([]Subject, len(subjects))
	for i, s := range subjects {
		v.Subjects[i] = Subject{Op: s.Op, Statement: s.Statement, Warmup: s.Warmup, Stage: s.Stage, Host: s.Host, Rows: c.rows(s)}
	}
	for _, choice := range c.Judge {
		if _, ok := v.Row(choice.Op, choice.Metric); !ok {
			return &RefusedError{Reason: fmt.Sprintf("not all runs have %s", choice)}
		}
	}
	return nil
}

// rows returns the metrics that all runs have.
func (c *comparison) rows(s *subject) []Row {
	rows := []Row{}
	bytes := s.hasBytes()
	for _, m := range results.Metrics() {
		before, ok := values(&m, s.before)
		after, also := values(&m, s.after)
		judged := c.judged(s, m.Name, bytes)
		if !ok || !also || !m.Listed && !judged && !c.chosen(c.Also, s, m.Name) {
			continue
		}
		r := Row{Metric: m.Name, Unit: m.Unit, Higher: m.Higher, Before: sample(before), After: sample(after), Judged: judged}
		c.compare(&r)
		if why := c.clientCause(&m, s); why != "" {
			r.Withheld, r.clients = why, true
		}
		rows = append(rows, r)
	}
	return rows
}

// hasBytes reports whether all runs moved payload.
func (s *subject) hasBytes() bool {
	return !slices.ContainsFunc(slices.Concat(s.before, s.after), func(f results.Figures) bool { return !f.HasBytes })
}

// values returns the metric of each run, or false if a run lacks it.
func values(m *results.Metric, all []results.Figures) (list []float64, ok bool) {
	for i := range all {
		x, ok := m.Of(&all[i])
		if !ok {
			return nil, false
		}
		list = append(list, x)
	}
	return list, true
}

// clientCause says why the metric of some runs describes their machine rather than the store, or "". A metric that changes
// alike with and without the client's part is judged nevertheless.
func (c *comparison) clientCause(m *results.Metric, s *subject) string {
	if c.effect(s, m.Of) == c.effect(s, m.WithoutClient) {
		return ""
	}
	return clientsRuns(m, slices.Concat(s.before, s.after))
}

// clientsRuns says in how many of the runs the metric describes their machine rather than the store, or "".
func clientsRuns(m *results.Metric, runs []results.Figures) string {
	n, example := 0, ""
	for i := range runs {
		if why := m.ClientCause(&runs[i]); why != "" {
			n++
			example = cmp.Or(example, why)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("in %d of the %d runs it describes warp's machine and not the store: %s", n, len(runs), example)
}

// effect returns 1 or -1 if the medians of a value differ by the minimum effect or more, and 0 if they do not.
func (c *comparison) effect(s *subject, of func(*results.Figures) (float64, bool)) int {
	median := func(all []results.Figures) float64 {
		list := make([]float64, len(all))
		for i := range all {
			list[i], _ = of(&all[i])
		}
		return sample(list).Median
	}
	before, after := median(s.before), median(s.after)
	switch {
	case after >= before*(1+c.MinEffect):
		return 1
	case after <= before*(1-c.MinEffect):
		return -1
	}
	return 0
}

// usuallyJudged are the metrics of the total that get a verdict if none are chosen.
var usuallyJudged = [3]string{"throughput", "p50", "p99"}

// judged reports whether the metric gets a verdict.
func (c *comparison) judged(s *subject, metric string, bytes bool) bool {
	if len(c.Judge) > 0 {
		return c.chosen(c.Judge, s, metric)
	}
	judged := usuallyJudged
	if !bytes {
		judged[0] = "objs"
	}
	return (s.total || s.Host != "") && slices.Contains(judged[:], metric)
}

func (c *comparison) chosen(choices []Choice, s *subject, metric string) bool {
	return slices.ContainsFunc(choices, func(x Choice) bool {
		return x.Metric == metric && (x.Op == s.Op || x.Op == "" && (s.total || s.Host != "")) && !s.Warmup
	})
}

func sample(values []float64) Sample {
	s := Sample{Values: values}
	sorted := slices.Sorted(slices.Values(values))
	s.Median = stats.Median(sorted)
	if low, high, ok := stats.MedianInterval(sorted, intervalLevel); ok && s.Median > 0 {
		s.Spread = new(100 * math.Max(high-s.Median, s.Median-low) / s.Median)
	}
	return s
}

// ratios returns the logarithms of a row's values, or false if a value is not
// positive.
func (r *Row) ratios() (before, after []float64, ok bool) {
	before, ok = logarithms(r.Before.Values)
	if !ok {
		return nil, nil, false
	}
	after, ok = logarithms(r.After.Values)
	return before, after, ok
}

func differences(before, after []float64) []float64 {
	all := make([]float64, len(before))
	for i := range all {
		all[i] = after[i] - before[i]
	}
	return all
}

// shift estimates how far the logarithms after lie above the logarithms before.
func (c *comparison) shift(before, after []float64, alpha float64) stats.Shift {
	if c.Paired {
		return stats.PairedShift(differences(before, after), alpha)
	}
	return stats.RankShift(before, after, alpha)
}

// compare computes how much a metric has changed, or the difference of the
// medians if no ratio can be judged.
func (c *comparison) compare(r *Row) {
	before, after, ok := r.ratios()
	if d := c.design(); ok && d.A >= c.minRuns() && d.B >= c.minRuns() {
		r.show(c.shift(before, after, 1-intervalLevel))
		r.Trend = c.times.trend(before, after)
		r.Withheld = r.drift(c.MinEffect)
		return
	}
	if r.Before.Median > 0 {
		r.Change = new(100 * (r.After.Median/r.Before.Median - 1))
	}
}

// show sets the interval from the interval of the logarithms.
func (r *Row) show(s stats.Shift) {
	r.Change, r.Low, r.High, r.Level = Percent(s.Estimate), Percent(s.Low), Percent(s.High), s.Level
}

// Percent returns the change that a difference of logarithms is, or nil if there is none.
func Percent(log float64) *float64 {
	if math.IsInf(log, 0) || math.IsNaN(log) {
		return nil
	}
	return new(100 * math.Expm1(log))
}

// VerdictOf returns the verdict on a metric by the shift of its logarithms and its step of Holm's procedure.
func VerdictOf(s stats.Shift, step stats.Step, higherIsBetter bool, minEffect float64) Verdict {
	switch {
	case math.Expm1(s.Low) > -minEffect && math.Expm1(s.High) < minEffect:
		return Equivalent
	case !step.Rejected || s.Estimate == 0:
		return Undecided
	case s.Estimate > 0 == higherIsBetter:
		return Better
	}
	return Worse
}

// minRuns returns the minimum runs per side, or pairs, for any verdict.
func (c *comparison) minRuns() int {
	if c.Paired {
		return minPairs
	}
	return minSide
}

// needed returns the minimum runs for judging this many metrics together: the
// first step of Holm's procedure must be able to succeed.
func (c *comparison) needed(metrics int) int {
	n := c.minRuns()
	for n < 1000 && (stats.Design{A: n, B: n, Paired: c.Paired}).SmallestP() > c.level(max(1, metrics)) {
		n++
	}
	return n
}

// A candidate is a row that gets a verdict, and the comparison that it belongs to.
type candidate struct {
	*Row
	c *comparison
}

// p returns the p-value of the exact test.
func (x *candidate) p() float64 {
	before, after, _ := x.ratios()
	if x.c.Paired {
		return stats.SignedRank(differences(before, after))
	}
	return stats.RankSum(before, after)
}

// enough reports whether so many runs can get a verdict if this many metrics are judged together.
func (c *comparison) enough(metrics int) bool {
	d := c.design()
	return min(d.A, d.B) >= c.minRuns() && d.SmallestP() <= c.level(max(1, metrics))
}

// judgeTogether sets the verdicts of rows that are judged together, and returns how many p-values were corrected for their number.
// Rows that cannot get a verdict because of the number of their runs, whatever their values, do not count.
func judgeTogether(family []candidate) int {
	family = slices.DeleteFunc(family, func(x candidate) bool {
		_, _, ok := x.ratios()
		if !ok {
			x.Verdict = NoRatio
		}
		return !ok
	})
	all := len(family)
	family = slices.DeleteFunc(family, func(x candidate) bool {
		few := !x.c.enough(all)
		if few {
			x.Verdict, x.Low, x.High, x.Level = TooFew, nil, nil, 0
		}
		return few
	})
	if len(family) == 0 {
		return 0
	}
	p := make([]float64, len(family))
	for i := range family {
		p[i] = family[i].p()
	}
	for i, step := range stats.Holm(p, family[0].c.level) {
		x := &family[i]
		x.c.decide(x.Row, p[i], step, len(family))
		if len(x.c.v.Withheld) > 0 || x.clients || x.Withheld != "" && x.Verdict != Undecided {
			x.Verdict = Withheld
		}
		if x.clients { // more runs change nothing
			x.Detectable, x.Target, x.Needed = nil, nil, 0
		}
	}
	return len(family)
}

// decide sets the verdict of one metric.
func (c *comparison) decide(r *Row, p float64, step stats.Step, family int) {
	before, after, _ := r.ratios()
	s := c.shift(before, after, step.Alpha)
	r.show(s)
	r.P, r.Adjusted = &p, new(step.Adjusted)
	if r.Verdict = VerdictOf(s, step, r.Higher, c.MinEffect); r.Verdict == Undecided {
		c.outlook(r, before, after, s, step.Alpha, family)
	}
}

// outlook computes which change the runs could have detected, and how many runs
// would have been needed.
func (c *comparison) outlook(r *Row, before, after []float64, s stats.Shift, alpha float64, family int) {
	spread := c.spread(before, after)
	if !(spread > 0) {
		return
	}
	if x := c.planner.Detectable(c.design(), alpha, targetPower); !math.IsInf(x, 1) {
		r.Detectable = new(100 * math.Expm1(x*spread))
	}
	target := math.Max(math.Abs(s.Estimate), math.Log1p(c.MinEffect))
	if n, ok := c.planner.RunsNeeded(target/spread, c.Paired, Alpha/float64(family), targetPower); ok {
		r.Target, r.Needed = new(100*math.Expm1(target)), n
	}
}

// spread returns the standard deviation of a run's logarithm, or of a pair's
// difference.
func (c *comparison) spread(before, after []float64) float64 {
	if c.Paired {
		return math.Sqrt(squares(differences(before, after)) / float64(len(before)-1))
	}
	return math.Sqrt((squares(before) + squares(after)) / float64(len(before)+len(after)-2))
}

// squares returns the sum of squared distances from the mean.
func squares(values []float64) (sum float64) {
	mean := 0.0
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		sum += (x - mean) * (x - mean)
	}
	return sum
}
