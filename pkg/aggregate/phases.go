package aggregate

import (
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// phaseHists contains the times of each phase.
type phaseHists [len(oplog.PhaseNames)]stats.Histogram

// exchanges counts the phases that make up the latency of a request.
func (h *hostSummary) exchanges(p *oplog.Phases) {
	if h.Phases == nil {
		h.Phases = new(phaseHists)
	}
	h.Phases.add(p, oplog.ConnectionPhases, len(p))
}

func (h *phaseHists) add(p *oplog.Phases, from, to int) {
	for i := from; i < to; i++ {
		if p[i] > 0 {
			h[i].Add(p[i])
		}
	}
}

func (h *phaseHists) merge(o *phaseHists) {
	for i := range h {
		h[i].Merge(&o[i])
	}
}

// report returns nil if nothing was recorded. Phases that never occurred are
// null.
func (h *phaseHists) report() *results.Phases {
	if h == nil {
		return nil
	}
	p := &results.Phases{
		DNS: results.StatsOf(&h[0]), Connect: results.StatsOf(&h[1]), TLS: results.StatsOf(&h[2]),
		Send: results.StatsOf(&h[3]), Wait: results.StatsOf(&h[4]), Receive: results.StatsOf(&h[5]),
	}
	if *p == (results.Phases{}) {
		return nil
	}
	return p
}
