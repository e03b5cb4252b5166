package aggregate

import (
	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// wireStats returns the statistics of times that are known for some of the requests in latency, or nil if they are known
// for too few.
func wireStats(known, latency *stats.Histogram) *results.Stats {
	if !results.Stamped(known.Count(), latency.Count()) {
		return nil
	}
	return results.StatsOf(known)
}

// A wireTotal adds up the time that requests, also failed ones, were on the wire.
type wireTotal struct {
	Known, Unknown uint64 // requests
	NS             uint64 // of those that are known
}

func (t *wireTotal) add(r *oplog.Record) {
	if r.ClientTime == 0 {
		t.Unknown++
		return
	}
	t.merge(&wireTotal{Known: 1, NS: uint64(max(r.Duration-r.ClientTime, 0))})
}

func (t *wireTotal) merge(o *wireTotal) {
	t.Known, t.Unknown, t.NS = t.Known+o.Known, t.Unknown+o.Unknown, exact.AddUint(t.NS, o.NS)
}

// clientShare returns the share of the workers' time in the window in which no request of theirs was on the wire, or nil if
// that is unknown. In an open loop workers wait for the schedule, so there is none.
func (g *groupView) clientShare(views []*view) *float64 {
	var all wireTotal
	var due uint64
	for _, v := range views {
		all.merge(&v.counts.OnWire)
		for _, h := range v.counts.Hosts.Vals {
			due += h.Due
		}
	}
	_, threads := g.threads()
	whole := float64(threads) * float64(exact.Distance(g.start, g.end))
	if !results.Stamped(all.Known, all.Known+all.Unknown) || due > 0 || whole == 0 {
		return nil
	}
	return new(max(1-float64(all.NS)/whole, 0))
}
