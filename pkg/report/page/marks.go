package page

import (
	"cmp"
	"math"
	"slices"
	"time"

	"warp/internal/human"
	"warp/pkg/report"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

func sortBy[T any, K cmp.Ordered](all []T, key func(T) K) {
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// marks returns the marks of the run, for charts.
func (g *group) marks(begin time.Time) (all []svg.Mark) {
	for i := range g.done {
		m := &g.done[i]
		all = append(all, svg.Mark{X: m.At.Sub(begin).Seconds(), Text: human.Visible(m.Text)})
	}
	return all
}

// marked shows the effect of each mark.
func (p *Page) marked(r *results.Report, groups []group) {
	if len(r.Marks) == 0 || len(groups) == 0 {
		return
	}
	g := &groups[0]
	begin, _ := g.length()
	t := &report.Table{Caption: "What was done to the store, and what became of it", Head: []string{"after", "what was done", "recovered after", "longest gap without a success",
		"throughput before", "during", "after", "p99 before", "during", "after", "errors before", "during", "after"}}
	seconds := func(s *float64, none string) string {
		if s == nil {
			return none
		}
		return human.Millis(1e3 * *s)
	}
	for i := range r.Marks {
		m := &r.Marks[i]
		row := []string{svg.Elapsed(math.Round(10*m.At.Sub(begin).Seconds()) / 10), human.Visible(m.Text), seconds(m.RecoveryS, "not, or unknown"), seconds(m.LongestGapS, report.None)}
		phases := []*results.MarkPhase{m.Before, m.During, m.After}
		for _, cell := range []func(*results.MarkPhase) string{
			func(f *results.MarkPhase) string {
				if g.moves() {
					return human.Rate(f.BytesPerS)
				}
				return human.PerSecond(f.ObjectsPerS) + " objects/s"
			},
			func(f *results.MarkPhase) string {
				if f.P99 == nil {
					return report.None
				}
				return human.Millis(*f.P99)
			},
			func(f *results.MarkPhase) string { return human.Grouped(f.Errors) },
		} {
			for _, f := range phases {
				if f == nil {
					row = append(row, report.None)
					continue
				}
				row = append(row, cell(f))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	p.section(section{ID: "marks", Title: "Marks", Blocks: []block{{Table: t}}})
}
