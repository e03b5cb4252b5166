package assert

import (
	"fmt"
	"slices"

	"warp/pkg/results"
)

// A Change is how much a metric differs between two sets of runs, in percent.
type Change struct {
	Estimate, Low, High *float64  // nil where unknown
	Values              []float64 // of all runs
	Withheld            string    // why the change cannot be judged; "" if it can
}

// JudgeChanges judges assertions about changes. find returns the change for an
// operation and metric, or nil. The unfavourable end of the interval decides. An assertion about
// each run, not about a change, is decided by the worst run.
func JudgeChanges(all []*Assertion, find func(op, metric string) *Change) (judged []results.Assertion) {
	for _, a := range all {
		v := verdict{Assertion: a}
		judged = append(judged, v.judgeChange(find(a.Op, a.Metric.String())))
	}
	return judged
}

func (v *verdict) judgeChange(c *Change) results.Assertion {
	switch {
	case c == nil:
		return v.result(results.Failed, "there is no data: not both sides have the metric")
	case !v.Change:
		return v.judgeWorst(c.Values)
	case c.Estimate == nil || c.Low == nil || c.High == nil:
		return v.result(results.Inconclusive, "there is no interval: too few runs, or a metric that can be 0")
	}
	end := *c.High
	if !v.Cmp.Upper() {
		end = *c.Low
	}
	outcome, why := results.Failed, fmt.Sprintf("changed by %s (%s to %s)", v.Format(*c.Estimate/100), v.Format(*c.Low/100), v.Format(*c.High/100))
	switch {
	case c.Withheld != "":
		outcome, why = results.Inconclusive, why+"; "+c.Withheld
	case v.Cmp.holds(end/100, v.Limit):
		outcome = results.Passed
	}
	r := v.result(outcome, why)
	r.Measured, r.Low, r.High = pointer(*c.Estimate), pointer(*c.Low), pointer(*c.High)
	return r
}

// judgeWorst judges an assertion about each run by the worst of them.
func (v *verdict) judgeWorst(values []float64) results.Assertion {
	worst := slices.Max(values)
	if !v.Cmp.Upper() {
		worst = slices.Min(values)
	}
	outcome := results.Failed
	if v.Cmp.holds(worst, v.Limit) {
		outcome = results.Passed
	}
	r := v.result(outcome, fmt.Sprintf("the worst of %d runs has %s", len(values), v.Format(worst)))
	r.Measured = pointer(worst / v.Unit.Scale)
	return r
}
