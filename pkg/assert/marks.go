package assert

import (
	"fmt"
	"time"

	"warp/pkg/results"
)

// ofMarks reports whether the family measures the effect of marks.
func (f Family) ofMarks() bool { return f == Recovery || f == LongestGap }

// AboutMarks reports whether the assertion is about marks.
func (a *Assertion) AboutMarks() bool { return a.Metric.Family.ofMarks() }

// judgeMarks judges an assertion about all marks in the window of a run. The
// worst mark decides. A mark without recovery fails, unless the window ended
// too soon after it to know.
func (v *verdict) judgeMarks() results.Assertion {
	var worst, unknown, noisy *results.MarkReport
	for i := range v.report.Marks {
		m := &v.report.Marks[i]
		if m.LongestGapS == nil {
			continue
		}
		value := m.LongestGapS
		if v.Metric.Family == Recovery {
			value = m.RecoveryS
		}
		if value == nil && v.report.EndsTooSoon(m) {
			unknown = m
			continue
		}
		if value == nil && m.Noise {
			noisy = m
			continue
		}
		if value == nil {
			v.known = false
			return v.result(results.Failed, "the throughput was not back within the window after the mark "+named(m))
		}
		if ms := *value * 1e3; worst == nil || v.Cmp.Upper() == (ms > v.measured) {
			v.measured, v.known, worst = ms, true, m
		}
	}
	switch {
	case worst != nil && !v.Cmp.holds(v.measured, v.Limit):
		return v.result(results.Failed, "after the mark "+named(worst))
	case unknown != nil:
		return v.result(results.Inconclusive, "the window ends too soon after the mark "+named(unknown))
	case noisy != nil:
		return v.result(results.Inconclusive, "the drop after the mark "+named(noisy)+" is not distinguishable from noise")
	case worst == nil:
		return v.result(results.Failed, "there is no data: no mark was set while the run was measured")
	case v.strict:
		return v.result(results.Inconclusive, "--assert-strict needs an interval, which figures after a mark lack")
	}
	return v.result(results.Passed, "")
}

// named returns a mark as text for a sentence.
func named(m *results.MarkReport) string {
	return fmt.Sprintf("%q at %s", m.Text, m.At.UTC().Format(time.TimeOnly+" MST"))
}
