package assert

import (
	"fmt"

	"warp/pkg/aggregate"
)

// A Change is how much a metric differs between two sets of runs, in percent.
type Change struct {
	Estimate, Low, High *float64 // nil where unknown
}

// JudgeChanges judges assertions about changes. find returns the change that
// one is about, nil where there is none; withheld says why no change can be
// judged, "" where it can. The unfavourable end of the interval decides.
func JudgeChanges(all []*Assertion, find func(op, metric string) *Change, withheld string) (results []aggregate.Assertion) {
	for _, a := range all {
		c := find(a.Op, a.Metric.String())
		r := aggregate.Assertion{Assertion: a.Text, Subject: a.Subject(), Unit: a.Unit.Name, Limit: tidy(a.Limit / a.Unit.Scale), Smaller: a.Cmp.Upper()}
		var why string
		switch {
		case c == nil:
			r.Result, why = aggregate.Failed, "there is no data: not both sides have the metric"
		case c.Estimate == nil || c.Low == nil || c.High == nil:
			r.Result, why = aggregate.Inconclusive, "there is no interval: too few runs, or a metric that can be 0"
		default:
			end := *c.High
			if !a.Cmp.Upper() {
				end = *c.Low
			}
			r.Measured, r.Low, r.High = pointer(*c.Estimate), pointer(*c.Low), pointer(*c.High)
			why = fmt.Sprintf("changed by %s (%s to %s)", a.Format(*c.Estimate/100), a.Format(*c.Low/100), a.Format(*c.High/100))
			switch {
			case withheld != "":
				r.Result, why = aggregate.Inconclusive, why+"; "+withheld
			case a.Cmp.Holds(end/100, a.Limit):
				r.Result = aggregate.Passed
			default:
				r.Result = aggregate.Failed
			}
		}
		r.Sentence = a.Text + map[string]string{aggregate.Passed: " holds: ", aggregate.Failed: " failed: ", aggregate.Inconclusive: " is inconclusive: "}[r.Result] + why
		results = append(results, r)
	}
	return results
}
