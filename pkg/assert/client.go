package assert

import (
	"fmt"

	"warp/pkg/results"
)

// suspected says that the client may have been the limit of a run without the kernel's time stamps, or "".
func (v *verdict) suspected() string {
	if v.report == nil || v.Metric.Family == Errors || stamped(&v.timeline.Whole) || len(v.report.ClientLimits()) == 0 {
		return ""
	}
	return "this machine may have been the limit, see the warnings"
}

// certain reports whether an assertion that holds would hold with a faster client, too: requests take no longer then.
func (v *verdict) certain() bool { return v.Cmp.Upper() == v.Metric.Family.isTime() }

// failsAnyway reports whether a response time would exceed the limit even if this machine had sent all requests on time. The lag of
// 99 % of the requests is at most its 99th percentile. So without lag, the q-th percentile of the response time would be at least
// the (q-1)-th, minus that lag.
func (v *verdict) failsAnyway(s *results.Slice) bool {
	if !v.Cmp.Upper() {
		return true // a faster client makes it shorter still
	}
	m := v.Metric
	m.Q -= 0.01
	if m.Stat != Percentile || m.Q <= 0 {
		return false
	}
	earlier, _ := m.of(s)
	return !v.Cmp.holds(earlier-1000*v.report.ClientLoad.PacingLagS, v.Limit)
}

// unstamped says why the time on the wire of a slice with requests is unknown, or "".
func (v *verdict) unstamped(s *results.Slice) string {
	if v.Metric.Family != Wire || s.Latency.Count() == 0 || stamped(s) {
		return ""
	}
	return "the time on the wire is unknown: more than 1 % of the requests have no usable time stamps of the kernel"
}

// clients says why the figure of a slice decides nothing about the store, or "". The client only makes requests slower. So
// a figure decides if it is the store's, or if the assertion would have the same result without the client.
func (v *verdict) clients(s *results.Slice) string {
	if v.Metric.Family == Errors || v.Metric.Family == Wire {
		return ""
	}
	value, _ := v.Metric.of(s)
	holds := v.Cmp.holds(value, v.Limit)
	switch {
	case !stamped(s) && holds && v.certain():
		return ""
	case !stamped(s):
		return v.suspected()
	case v.Metric.Family == Throughput || v.Metric.Family == Objects:
		if v.group == nil { // the run goes on
			return ""
		}
		share := v.group.ClientShare
		if share != nil && results.ClientsThroughput(*share) && v.Cmp.holds(value*(1+results.Gain(*share)), v.Limit) != holds {
			return fmt.Sprintf("this machine limited it: the workers spent %.0f %% of the time between requests", 100**share)
		}
	case v.Metric.Family == Response && v.report != nil && v.report.SentLate() && !holds:
		if v.failsAnyway(s) {
			return ""
		}
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
