package sweep

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"warp/pkg/compare"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// A Comparison says what changed from one sweep to another.
type Comparison struct {
	Version   int             `json:"version"` // 1
	Kind      string          `json:"kind"`    // "sweeps"
	Before    string          `json:"before"`  // folders
	After     string          `json:"after"`
	MinEffect float64         `json:"min_effect_percent"`
	Points    int             `json:"points"`          // that both sweeps have, and that are compared
	First     string          `json:"first,omitempty"` // the folder whose runs were all made before the runs of the other
	LeftOut   []string        `json:"left_out"`
	Verdict   compare.Verdict `json:"verdict"` // of all metrics
	Overall   []Overall       `json:"metrics"`
	ByPoint   []PointChange   `json:"by_point"`
	Warnings  []string        `json:"warnings"`
}

// An Overall is the change of a metric over all points, by a test stratified by point.
type Overall struct {
	Metric  string          `json:"metric"`
	Unit    results.Unit    `json:"unit"`
	Higher  bool            `json:"higher_is_better"`
	Points  int             `json:"points"`
	Before  int             `json:"runs_before"`
	After   int             `json:"runs_after"`
	Change  *float64        `json:"change_percent"`
	Low     *float64        `json:"low_percent"` // null if unbounded
	High    *float64        `json:"high_percent"`
	P       float64         `json:"p"`
	Holm    float64         `json:"p_holm"`
	Verdict compare.Verdict `json:"verdict"`
}

// A PointChange is the change of a metric at one point.
type PointChange struct {
	Point string      `json:"point"`
	Row   compare.Row `json:"change"`
}

// Compare compares two sweeps at the points that both have, at which no run of either is unfit.
func Compare(before, after []Measurement, axes [2][]Axis, names [2]string, o compare.Options) (*Comparison, error) {
	c := &Comparison{Version: 1, Kind: "sweeps", Before: names[0], After: names[1], MinEffect: 100 * o.MinEffect,
		LeftOut: []string{}, Overall: []Overall{}, ByPoint: []PointChange{}, Warnings: []string{}}
	c.First = first(before, after, names)
	sides := [2]map[string][]compare.Run{byPoint(before, axes[0]), byPoint(after, axes[1])}
	if err := compare.Distinct(slices.Concat(all(sides[0]), all(sides[1]))); err != nil {
		return nil, err
	}
	only := [2]int{}
	var labels []string
	for _, p := range points(axes[0]) {
		switch why := unfit(sides[0][p], sides[1][p], o.MaxErrors); {
		case len(sides[0][p]) == 0:
		case len(sides[1][p]) == 0:
			only[0]++
		case why != "":
			c.LeftOut = append(c.LeftOut, p+": "+why)
		default:
			labels = append(labels, p)
		}
	}
	for p := range sides[1] {
		if len(sides[0][p]) == 0 {
			only[1]++
		}
	}
	for i, n := range only {
		if n > 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("points that only %s has: %d", names[i], n))
		}
	}
	if c.Points = len(labels); c.Points == 0 {
		return nil, &compare.RefusedError{Reason: fmt.Sprintf("%s and %s have no point in common that can be compared", names[0], names[1])}
	}
	v, err := compare.Judge(sides[0][labels[0]], sides[1][labels[0]], o)
	if err != nil {
		return nil, err
	}
	for _, x := range v.Parameters {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s differs: %s -> %s", x.Name, compare.OrNone(x.Before), compare.OrNone(x.After)))
	}
	choices := o.Judge
	if len(choices) == 0 {
		for _, r := range v.Judged() {
			choices = append(choices, compare.Choice{Metric: r.Metric})
		}
	}
	var used [][]stats.Stratum // of each metric
	for _, choice := range choices {
		used = append(used, c.overall(choice, labels, sides))
	}
	c.decide(used, o)
	return c, c.byPoints(labels, sides, o)
}

// first returns the name of the sweep that had ended before the other one began, or "".
func first(before, after []Measurement, names [2]string) string {
	span := func(runs []Measurement) (begin, end time.Time) {
		for i, r := range runs {
			if i == 0 || r.Began.Before(begin) {
				begin = r.Began
			}
			if r.Began.After(end) {
				end = r.Began
			}
		}
		return begin, end
	}
	b0, e0 := span(before)
	b1, e1 := span(after)
	switch {
	case e0.Before(b1):
		return names[0]
	case e1.Before(b0):
		return names[1]
	}
	return ""
}

// byPoint sorts runs by their points. The last run of a sweep, which only shows a drift, is in none.
func byPoint(runs []Measurement, axes []Axis) map[string][]compare.Run {
	at := map[string][]compare.Run{}
	for _, r := range runs {
		if !r.Again {
			p := pointLabel(axes, r.Point)
			at[p] = append(at[p], compare.Run{Name: r.Log, Report: r.Report})
		}
	}
	return at
}

// pointLabel names a point in the same way whatever the order of the axes.
func pointLabel(axes []Axis, point int) string {
	values := Values(axes, point)
	if len(axes) > 1 && axes[0].Flag > axes[1].Flag {
		axes, values = []Axis{axes[1], axes[0]}, []string{values[1], values[0]}
	}
	return Label(axes, values)
}

func points(axes []Axis) (labels []string) {
	for p := range Points(axes) {
		labels = append(labels, pointLabel(axes, p))
	}
	return labels
}

func all(at map[string][]compare.Run) (runs []compare.Run) {
	for _, p := range slices.Sorted(maps.Keys(at)) {
		runs = append(runs, at[p]...)
	}
	return runs
}

// unfit says why a point cannot be compared, or "".
func unfit(before, after []compare.Run, maxErrors float64) string {
	for _, r := range slices.Concat(before, after) {
		if why := compare.Unfit(r.Report, maxErrors); why != "" {
			return why
		}
	}
	return ""
}

// strata returns the logarithms of a metric, one stratum for each point. Points where the metric describes the client in a
// run are left out, and counted, and points without a positive value in each run are left out, too.
func strata(choice compare.Choice, labels []string, sides [2]map[string][]compare.Run) (all []stats.Stratum, clients int) {
	m, _ := results.FindMetric(choice.Metric)
	client := false
	for _, p := range labels {
		logs := func(runs []compare.Run) (list []float64, ok bool) {
			for _, r := range runs {
				x, ok := value(r.Report, choice)
				f, _ := figures(r.Report, choice.Op)
				client = client || m.ClientCause(&f) != ""
				if !ok || !(x > 0) {
					return nil, false
				}
				list = append(list, math.Log(x))
			}
			return list, true
		}
		client = false
		a, ok := logs(sides[0][p])
		b, also := logs(sides[1][p])
		switch {
		case client:
			clients++
		case ok && also:
			all = append(all, stats.Stratum{A: a, B: b})
		}
	}
	return all, clients
}

// overall adds a metric with its p-value, and returns its strata.
func (c *Comparison) overall(choice compare.Choice, labels []string, sides [2]map[string][]compare.Run) []stats.Stratum {
	m, _ := results.FindMetric(choice.Metric)
	o := Overall{Metric: choice.String(), Unit: m.Unit, Higher: m.Higher, P: 1, Holm: 1}
	used, clients := strata(choice, labels, sides)
	if clients > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s is not compared at %d of %d points, because it describes this machine and not the store there", choice, clients, len(labels)))
	}
	o.Points = len(used)
	for _, s := range used {
		o.Before += len(s.A)
		o.After += len(s.B)
	}
	if len(used) > 0 {
		o.P, _ = stats.Stratified(used, compare.Alpha)
	}
	c.Overall = append(c.Overall, o)
	return used
}

// decide sets the verdicts over all points from the strata of each metric.
func (c *Comparison) decide(used [][]stats.Stratum, o compare.Options) {
	var p []float64
	for _, x := range c.Overall {
		p = append(p, x.P)
	}
	for i, step := range stats.Holm(p, func(left int) float64 { return compare.Alpha / float64(left) }) {
		x := &c.Overall[i]
		x.Holm = step.Adjusted
		if len(used[i]) == 0 {
			x.Verdict = compare.Withheld
			continue
		}
		_, s := stats.Stratified(used[i], step.Alpha)
		x.Change = compare.Percent(s.Estimate)
		if stats.SmallestStratifiedP(used[i]) > compare.Alpha/float64(len(c.Overall)) {
			x.Verdict = compare.TooFew
			continue
		}
		x.Low, x.High = compare.Percent(s.Low), compare.Percent(s.High)
		x.Verdict = compare.VerdictOf(s, step, x.Higher, o.MinEffect)
	}
	var verdicts []compare.Verdict
	for _, x := range c.Overall {
		verdicts = append(verdicts, x.Verdict)
	}
	if len(verdicts) > 0 {
		c.Verdict = compare.Overall(verdicts)
	}
}

// byPoints compares each point by itself, at levels that keep the false alarms of all points together within 5 %.
func (c *Comparison) byPoints(labels []string, sides [2]map[string][]compare.Run, o compare.Options) error {
	o.Level = func(left int) float64 { return compare.Alpha / float64(left*len(labels)) }
	for _, p := range labels {
		v, err := compare.Judge(sides[0][p], sides[1][p], o)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, r := range v.Judged() {
			c.ByPoint = append(c.ByPoint, PointChange{Point: p, Row: *r})
		}
	}
	return nil
}
