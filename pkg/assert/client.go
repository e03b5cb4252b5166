package assert

import (
	"fmt"

	"warp/pkg/results"
)

// suspected says that the client may have been the limit of a run without the kernel's time stamps, or "".
func (v *verdict) suspected() string {
	if v.report == nil || v.Metric.Family == Errors || v.stamped(&v.course.Whole) || len(v.report.ClientLimits()) == 0 {
		return ""
	}
	return "this machine may have been the limit, see the warnings"
}

// stamped reports whether the client's part of the times is known.
func (v *verdict) stamped(s *results.Slice) bool {
	return s.Wire.Count() > 0 && float64(s.Wire.Count()) >= results.MinStamped*float64(s.Latency.Count())
}

// clients says why the figure of a slice decides nothing about the store, or "". The client only makes requests slower. So
// a figure decides if it is the store's, or if the assertion would have the same result without the client.
func (v *verdict) clients(s *results.Slice) string {
	if v.Metric.Family == Errors || v.Metric.Family == Wire {
		return ""
	}
	if !v.stamped(s) {
		return v.suspected()
	}
	value, _ := v.Metric.of(s)
	holds := v.Cmp.holds(value, v.Limit)
	switch {
	case v.Metric.Family == Throughput || v.Metric.Family == Objects:
		if v.group == nil { // the run goes on
			return ""
		}
		share := v.group.ClientShare
		if share != nil && results.ClientsThroughput(*share) && v.Cmp.holds(value*(1+results.Gain(*share)), v.Limit) != holds {
			return fmt.Sprintf("this machine limited it: the workers spent %.0f %% of the time between requests", 100**share)
		}
	case v.Metric.Family == Response && v.report != nil && v.report.SentLate() && !holds:
		return "this machine sent requests late"
	default:
		time, _ := Metric{Family: Duration, Stat: v.Metric.Stat, Q: v.Metric.Q}.of(s)
		wire, _ := Metric{Family: Wire, Stat: v.Metric.Stat, Q: v.Metric.Q}.of(s)
		if results.ClientsTime(time, wire) && v.Cmp.holds(value-(time-wire), v.Limit) != holds {
			return fmt.Sprintf("%.3g of its %.3g ms are this machine's, not the store's", time-wire, value)
		}
	}
	return ""
}
