package page

import (
	"html/template"
	"time"

	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// heatMap draws how many requests took how long over time: the more, the more opaque. It returns nil
// if nothing was counted.
func (p *Page) heatMap(op *results.Operation, begin time.Time, length float64, marks []svg.Mark, scale latencyRange) *chart {
	m := op.HeatMap
	if m == nil || len(m.BoundsMS) < 2 || len(m.Counts) == 0 || len(m.Counts) != len(op.Segments) || length <= 0 {
		return nil
	}
	last := &op.Segments[len(op.Segments)-1]
	h := svg.HeatMap{
		ID: p.nextID("heat"), Title: op.Op + ": requests by latency over time",
		Bounds: m.BoundsMS, Counts: m.Counts,
		From: op.Segments[0].Start.Sub(begin).Seconds(), To: last.Start.Sub(begin).Seconds() + last.DurationS, Length: length,
		Marks: marks, Lowest: scale.lowest, Highest: scale.highest,
	}
	drawn, desc := h.SVG()
	return &chart{ID: h.ID, Title: h.Title, SVG: template.HTML(drawn), Note: desc, Values: &values{Length: length}}
}

// heatMaps draws a heat map for each operation.
func (p *Page) heatMaps(s *section, g *group) {
	begin, length := g.length()
	var scale latencyRange
	for _, op := range g.ops {
		if m := op.HeatMap; m != nil && len(m.BoundsMS) > 1 {
			scale.include(m.BoundsMS[0])
			scale.include(m.BoundsMS[len(m.BoundsMS)-1])
		}
	}
	for _, op := range g.ops {
		s.chart(p.heatMap(op, begin, length, g.marks(begin), scale))
	}
}
