package aggregate

import (
	"fmt"

	"warp/pkg/oplog"
)

// phaseHists are the times of each phase.
type phaseHists [len(oplog.PhaseNames)]Hist

// exchanges counts what a latency consists of, of the same requests.
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

// report is nil where nothing was noted; phases that never took place are null.
func (h *phaseHists) report() *Phases {
	if h == nil {
		return nil
	}
	p := &Phases{
		DNS: stats(&h[0]), Connect: stats(&h[1]), TLS: stats(&h[2]),
		Send: stats(&h[3]), Wait: stats(&h[4]), Receive: stats(&h[5]),
	}
	if *p == (Phases{}) {
		return nil
	}
	return p
}

func (h *Phases) list() [len(oplog.PhaseNames)]*Stats {
	return [...]*Stats{h.DNS, h.Connect, h.TLS, h.Send, h.Wait, h.Receive}
}

// phases shows how the times of requests come about, by host where there are several.
func (p *printer) phases(op *Operation) {
	if op.HTTPPhases == nil {
		return
	}
	p.line("\nHTTP phases of a sample of requests:")
	p.phaseLines(" * ", op.HTTPPhases)
	if !p.o.Verbose || len(op.Hosts) < 2 {
		return
	}
	for i := range op.Hosts {
		if h := &op.Hosts[i]; h.HTTPPhases != nil {
			p.line(" * %s:", partName(h))
			p.phaseLines("        - ", h.HTTPPhases)
		}
	}
}

func (p *printer) phaseLines(bullet string, phases *Phases) {
	for i, s := range phases.list() {
		if s != nil {
			p.line("%s%s (%d): %s", bullet, fmt.Sprintf("%-7s", oplog.PhaseNames[i]), s.Count, latencies(s))
		}
	}
}
