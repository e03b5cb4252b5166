package aggregate

import (
	"warp/internal/exact"
	"warp/pkg/results"
	"warp/pkg/stats"
)

func enough(known, all uint64) bool {
	return known > 0 && float64(known) >= results.MinStamped*float64(all)
}

// wireStats returns the statistics of times that are known for some of the requests in latency, or nil if they are known
// for too few.
func wireStats(known, latency *stats.Histogram) *results.Stats {
	if !enough(known.Count(), latency.Count()) {
		return nil
	}
	return results.StatsOf(known)
}

// clientShare returns the share of the workers' time in the window in which no request of theirs was on the wire, or nil if
// that is unknown. In an open loop workers wait for the schedule, so there is none.
func (g *groupView) clientShare(views []*view) *float64 {
	var wired, unwired, ns, due uint64
	for _, v := range views {
		wired, unwired, ns = wired+v.counts.Wired, unwired+v.counts.Unwired, exact.AddUint(ns, v.counts.WireTime)
		for _, h := range v.counts.Hosts.Vals {
			due += h.Due
		}
	}
	_, threads := g.threads()
	whole := float64(threads) * float64(exact.Distance(g.start, g.end))
	if !enough(wired, wired+unwired) || due > 0 || whole == 0 {
		return nil
	}
	share := max(1-float64(ns)/whole, 0)
	return &share
}
