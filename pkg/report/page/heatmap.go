package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// heat draws how many requests took how long over time: the more, the more opaque. It returns nil
// if nothing was counted.
func (p *Page) heat(op *results.Operation, begin time.Time, length float64, marks []svg.Mark) *chart {
	m := op.HeatMap
	if m == nil || len(m.BoundsMS) < 2 || len(m.Counts) == 0 || len(m.Counts) != len(op.Segments) || length <= 0 {
		return nil
	}
	last := &op.Segments[len(op.Segments)-1]
	h := svg.HeatMap{
		ID: p.nextID("heat"), Title: human.Visible(op.Op) + ": requests by latency over time",
		Bounds: m.BoundsMS, Counts: m.Counts,
		From: op.Segments[0].Start.Sub(begin).Seconds(), To: last.Start.Sub(begin).Seconds() + last.DurationS, Length: length,
		Marks: marks, Quick: p.quick,
	}
	drawn, desc := h.SVG()
	return &chart{ID: h.ID, Title: h.Title, SVG: template.HTML(drawn), Note: desc, Values: &values{Length: length}}
}

// heats draws a heat map for each operation.
func (p *Page) heats(g *group) (all []block) {
	begin, length := g.length()
	for _, op := range g.ops {
		if c := p.heat(op, begin, length, g.marks(begin)); c != nil {
			all = append(all, block{Chart: c})
		}
	}
	return all
}

// maxSlowest limits the table of the slowest requests of all operations.
const maxSlowest = 20

// slowest lists the slowest requests of all operations.
func (p *Page) slowest(g *group) {
	type request struct {
		op string
		*results.SlowRequest
	}
	var all []request
	for _, op := range g.ops {
		for i := range op.Slowest {
			all = append(all, request{human.Visible(op.Op), &op.Slowest[i]})
		}
	}
	sortBy(all, func(r request) float64 { return -r.DurationMS })
	all = all[:min(len(all), maxSlowest)]
	if len(all) == 0 {
		return
	}
	begin, _ := g.length()
	t := &table{Caption: "The slowest requests that started in the window", Head: []string{"took", "operation", "after", "at", "object", "host", "size", "status"}, Text: true}
	if g.Clients > 1 {
		t.Head = append(t.Head, "client")
	}
	for _, r := range all {
		status := dash
		if r.Status > 0 {
			status = fmt.Sprint(r.Status)
		}
		if r.Error != "" {
			status = strings.TrimPrefix(status+" "+human.Visible(r.Error), dash+" ")
		}
		size := dash
		if r.Bytes > 0 {
			size = human.Bytes(float64(r.Bytes))
		}
		row := []string{human.Millis(r.DurationMS), r.op, svg.Elapsed(math.Round(10*math.Max(0, r.Start.Sub(begin).Seconds())) / 10),
			r.Start.In(p.loc).Format("15:04:05.000"), human.Visible(cut(r.Key, 200)), human.Host(r.Host), size, status}
		if g.Clients > 1 {
			row = append(row, human.Visible(r.Client))
		}
		t.Rows = append(t.Rows, row)
	}
	p.section(section{ID: "slowest", Title: "Slowest requests", Blocks: []block{{Table: t}}})
}
