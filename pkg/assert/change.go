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
		c := find(a.Op, a.Metric.String())
		r := results.Assertion{Assertion: a.Text, Subject: a.Subject(), Unit: a.Unit.Name, Limit: tidy(a.Limit / a.Unit.Scale), Smaller: a.Cmp.Upper()}
		var why string
		switch {
		case c == nil:
			r.Result, why = results.Failed, "there is no data: not both sides have the metric"
		case !a.Change:
			r.Result, why = a.worst(&r, c.Values)
		case c.Estimate == nil || c.Low == nil || c.High == nil:
			r.Result, why = results.Inconclusive, "there is no interval: too few runs, or a metric that can be 0"
		default:
			end := *c.High
			if !a.Cmp.Upper() {
				end = *c.Low
			}
			r.Measured, r.Low, r.High = pointer(*c.Estimate), pointer(*c.Low), pointer(*c.High)
			why = fmt.Sprintf("changed by %s (%s to %s)", a.Format(*c.Estimate/100), a.Format(*c.Low/100), a.Format(*c.High/100))
			switch {
			case c.Withheld != "":
				r.Result, why = results.Inconclusive, why+"; "+c.Withheld
			case a.Cmp.holds(end/100, a.Limit):
				r.Result = results.Passed
			default:
				r.Result = results.Failed
			}
		}
		r.Sentence = a.Text + map[string]string{results.Passed: " holds: ", results.Failed: " failed: ", results.Inconclusive: " is inconclusive: "}[r.Result] + why
		judged = append(judged, r)
	}
	return judged
}

// worst judges an assertion about each run.
func (a *Assertion) worst(r *results.Assertion, values []float64) (outcome, why string) {
	worst := slices.Max(values)
	if !a.Cmp.Upper() {
		worst = slices.Min(values)
	}
	r.Measured = pointer(worst / a.Unit.Scale)
	why = fmt.Sprintf("the worst of %d runs has %s", len(values), a.Format(worst))
	if a.Cmp.holds(worst, a.Limit) {
		return results.Passed, why
	}
	return results.Failed, why
}
