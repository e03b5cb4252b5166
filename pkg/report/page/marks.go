package page

import (
	"math"
	"strconv"
	"time"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/report"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// marks returns the marks of the run, for charts.
func (g *group) marks(begin time.Time) (all []svg.Mark) {
	for i := range g.done {
		m := &g.done[i]
		all = append(all, svg.Mark{X: m.At.Sub(begin).Seconds(), Text: m.Text})
	}
	return all
}

// marked says what became of each mark, and shows the figures before, during and after.
func (p *Page) marked(r *results.Report, groups []group) {
	if len(r.Marks) == 0 || len(groups) == 0 {
		return
	}
	g := &groups[0]
	begin, _ := g.length()
	var notes []string
	t := &report.Table{Caption: "Before, during and after each mark", Head: []string{"mark", "", "time", "throughput", "p99", "errors"}}
	for i := range r.Marks {
		m := &r.Marks[i]
		name := m.Text
		sentence := svg.Elapsed(math.Round(10*m.At.Sub(begin).Seconds())/10) + " " + name + ": " + report.Effect(m, r)
		notes = append(notes, sentence+".")
		for _, phase := range report.PhasesOf(m) {
			throughput := objectsText(phase.ObjectsPerS)
			if g.hasBytes() {
				throughput = human.Rate(phase.BytesPerS)
			}
			t.Rows = append(t.Rows, []string{strconv.Itoa(i+1) + " " + columns.Cut(name, 41), phase.Name, human.Seconds(phase.Seconds), throughput, phase.Latency(), human.Grouped(phase.Errors)})
		}
	}
	s := section{ID: "marks", Title: "Marks", Blocks: []block{{Notes: notes}}}
	s.table(t)
	p.section(s)
}
