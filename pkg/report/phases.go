package report

import (
	"fmt"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

func phaseList(h *results.Phases) [len(oplog.PhaseNames)]*results.Stats {
	return [...]*results.Stats{h.DNS, h.Connect, h.TLS, h.Send, h.Wait, h.Receive}
}

// phases shows how the times of requests add up, by host if there are several.
func (p *textPrinter) phases(op *results.Operation) {
	if op.HTTPPhases == nil {
		return
	}
	p.Line("\nHTTP phases of a sample of requests:")
	p.phaseLines(" * ", op.HTTPPhases)
	if !p.Verbose || len(op.Hosts) < 2 {
		return
	}
	for i := range op.Hosts {
		if h := &op.Hosts[i]; h.HTTPPhases != nil {
			p.Line(" * %s:", partName(h))
			p.phaseLines("        - ", h.HTTPPhases)
		}
	}
}

func (p *textPrinter) phaseLines(bullet string, phases *results.Phases) {
	for i, s := range phaseList(phases) {
		if s != nil {
			p.Line("%s%s (%d): %s", bullet, fmt.Sprintf("%-7s", oplog.PhaseNames[i]), s.Count, latencies(s))
		}
	}
}
