package assert

import (
	"fmt"
	"time"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// Measured is the value of an assertion in a part of a run, for a search that decides itself how long it measures.
type Measured struct {
	Value, Low, High float64 // in base units, with the interval
	Known            bool    // there is a value
	Interval         bool    // there is an interval
	Client           string  // why the value is this machine's and not the store's; "" = it is not
	Why              string  // why there is no value; "" = there is one
}

// Measure measures the assertion over a timeline with slices of the given length, which the interval with the given share
// resamples. The report belongs to the timeline, and says whether the client was the limit; nil = that is unknown.
func (a *Assertion) Measure(r *results.Report, c *results.Timeline, length time.Duration, share float64) (m Measured) {
	v := verdict{Assertion: a, subject: subject{timeline: c}, report: r}
	if r != nil {
		if all := subjectsOf(a, r); len(all) > 0 {
			v.group = all[0].group
		}
	}
	if a.Every > 0 {
		return v.measurePieces(share)
	}
	m.Value, m.Known = a.Metric.of(&c.Whole)
	n, needs := a.Metric.requests(&c.Whole), a.Metric.needs()
	switch {
	case !m.Known:
		m.Why = "no request was answered"
		return m
	case a.Metric.Family.isTime() && n < needs:
		m.Known, m.Why = false, fmt.Sprintf("%d requests are too few for %s, which needs %d", n, a.Metric, needs)
		return m
	}
	m.Low, m.High, m.Interval = a.Metric.interval(c.Slices[length], share)
	m.Low, m.High = min(m.Low, m.Value), max(m.High, m.Value)
	m.Client = v.clients(&c.Whole)
	return m
}

// measurePieces measures the share of pieces in which an assertion with every holds.
func (v *verdict) measurePieces(share float64) (m Measured) {
	var passed, one []float64
	for _, s := range results.JoinSlices(v.timeline.Slices[v.Every], v.Every) {
		switch v.judgeSegment(&s) {
		case results.Passed:
			passed, one = append(passed, 1), append(one, 1)
		case results.Failed:
			passed, one = append(passed, 0), append(one, 1)
		}
	}
	if len(one) == 0 {
		m.Why = "no piece has enough requests"
		return m
	}
	for _, p := range passed {
		m.Value += p / float64(len(one))
	}
	m.Known = true
	if len(one) >= minSegments {
		m.Low, m.High, m.Interval = stats.RatioInterval(passed, one, share)
	}
	return m
}

// Holds reports whether a measured value is on the right side.
func (a *Assertion) Holds(value float64) bool {
	if a.Every > 0 {
		return value >= a.Share-1e-12
	}
	return a.Cmp.holds(value, a.Limit)
}

// Bound returns the limit of the values that Measure returns, and whether it is an upper one.
func (a *Assertion) Bound() (limit float64, upper bool) {
	if a.Every > 0 {
		return a.Share, false
	}
	return a.Limit, a.Cmp.Upper()
}

// Show formats a value that Measure returns, with its unit.
func (a *Assertion) Show(value float64) string {
	if a.Every > 0 {
		return digits(100*value) + " % of the pieces"
	}
	return a.Format(value)
}

// TimelineIn returns the timeline of the report that the assertion is judged by; nil if there is none.
func (a *Assertion) TimelineIn(r *results.Report) *results.Timeline {
	if all := subjectsOf(a, r); len(all) > 0 {
		return all[0].timeline
	}
	return nil
}

// Requests returns the minimum number of requests for judging the assertion.
func (a *Assertion) Requests() uint64 { return a.Metric.needs() }
