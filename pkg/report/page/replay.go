package page

import (
	"fmt"

	"warp/pkg/report"
	"warp/pkg/results"
)

// replay shows how well a replay repeated the requests of its log.
func (p *Page) replay(r *results.Replay) {
	if r == nil {
		return
	}
	k := card{Label: "Fidelity", Figure: fmt.Sprintf("%.2f %% on time", 100*r.Share(r.OnTime)), State: "good", Note: fmt.Sprintf("%.2f %% sent", 100*r.Share(r.Sent))}
	if r.Share(r.OnTime) < goodFidelity {
		k.State = "warn"
	}
	p.Cards = append([]card{k}, p.Cards...)
	p.section(section{ID: "replay", Title: "Replay", Blocks: []block{{Notes: report.ReplayLines(r)}}})
}

// goodFidelity is the share of the requests that a good replay sends on time.
const goodFidelity = 0.99
