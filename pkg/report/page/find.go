package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"warp/internal/human"
	"warp/pkg/find"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/report/svg"
)

// Find returns the page of a search for the highest load.
func Find(r *find.Report) *Page {
	p := newPage(r, "search with "+r.Benchmark, r.Headline(), nil)
	if r.FailsFirst != "" {
		p.Lead = append(p.Lead, fmt.Sprintf("At %s: %s.", r.Show(r.Failed), r.FailsFirst))
	}
	for _, n := range r.Notes {
		p.Warnings = append(p.Warnings, human.UpperFirst(n)+".")
	}
	p.findCards(r)
	s := section{ID: "values", Title: "Asserted values"}
	for i := range r.Assertions {
		s.chart(p.findChart(r, i))
	}
	p.section(s)
	logs := &report.Table{Caption: "Op logs", Head: []string{"step", "logs"}, Text: true, Closed: true}
	for i, step := range r.Steps {
		logs.Rows = append(logs.Rows, []string{fmt.Sprintf("%d, %s", i+1, r.Show(step.Load)), strings.Join(step.Logs, ", ")})
	}
	p.section(section{ID: "steps", Title: "Steps", Blocks: []block{{Table: tableOf("Steps", report.FindColumns(r))}, {Table: logs}}})
	p.commandSection(r.Command)
	return p
}

// findCards has the estimate and the bracket.
func (p *Page) findCards(r *find.Report) {
	if r.Estimate > 0 {
		state := cmp.Or(map[string]string{find.Found: "good", find.None: "bad"}[r.Status], "warn")
		p.Cards = append(p.Cards, card{Label: "Highest load", Figure: r.Show(r.Estimate), Note: r.Bracket(), State: state})
	}
	if r.Enough != "" {
		state := map[string]string{find.Passed: "good", find.NotEnough: "bad", find.Inconclusive: "warn"}[r.Enough]
		p.Cards = append(p.Cards, card{Label: "At least " + r.Show(r.AtLeast), Figure: r.Enough, State: state})
	}
}

// highestMiss limits charts of values to that many times the limit: an overload has response times as long as the step.
const highestMiss = 4

// findChart draws a value over the load, with its interval and limit. The last step at a load counts.
func (p *Page) findChart(r *find.Report, i int) *chart {
	last := map[float64]*find.Figure{}
	var loads []float64
	for k := range r.Steps {
		step := &r.Steps[k]
		if step.Repeated || step.Role == find.Approach || i >= len(step.Values) || step.Values[i].Measured == nil {
			continue
		}
		if last[step.Load] == nil {
			loads = append(loads, step.Load)
		}
		last[step.Load] = &step.Values[i]
	}
	if len(loads) < 2 {
		return nil
	}
	slices.Sort(loads)
	first := last[loads[0]]
	top := highestMiss * math.Abs(first.Limit)
	if top == 0 {
		top = math.Inf(1)
	}
	c := &svg.Chart{Title: fmt.Sprintf("%s, %s", first.Subject, first.Unit), X: loads, XNote: r.Unit, Height: 260}
	value, limit := svg.Line{Label: first.Subject}, svg.Line{Label: "limit", Color: 1, Class: "dash"}
	low, high, clipped := svg.Line{}, svg.Line{}, false
	for _, load := range loads {
		f := last[load]
		from, to := *f.Measured, *f.Measured
		if f.Low != nil {
			from, to = *f.Low, *f.High
		}
		clipped = clipped || to > top
		value.Y, limit.Y = append(value.Y, min(*f.Measured, top)), append(limit.Y, f.Limit)
		low.Y, high.Y = append(low.Y, min(from, top)), append(high.Y, min(to, top))
		c.Dots = append(c.Dots, svg.Dot{X: load, Y: min(*f.Measured, top)})
		c.Desc += fmt.Sprintf("%s: %.4g %s. ", r.Show(load), *f.Measured, f.Unit)
	}
	c.Lines = []svg.Line{value, limit, low, high}
	c.Bands = []svg.Band{{Low: 2, High: 3}}
	c.XScale, c.YScale = svg.FromZero(loads[len(loads)-1], svg.Number), svg.FromZero(svg.Highest(c.Lines), svg.Number)
	drawn := p.draw("value", c)
	drawn.Note = "The area is the 99 % interval."
	if clipped {
		drawn.Note += fmt.Sprintf(" Values above %.4g %s are drawn at the top.", top, first.Unit)
	}
	return drawn
}

// FindChange returns the page that compares two searches. They are named as their folders.
func FindChange(c *find.Change) *Page {
	before, after := c.Before.Folder, c.After.Folder
	p := newPage(c, "comparison of two searches", before+" and "+after, nil)
	p.Lead = append(p.Lead, report.FindVerdict(c))
	state := map[string]string{find.Higher: "good", find.Lower: "bad", find.Unclear: "warn"}[c.Verdict]
	p.Cards = append(p.Cards, card{Label: "Before: " + before, Figure: c.Before.Bracket()}, card{Label: "After: " + after, Figure: c.After.Bracket(), State: state})
	p.tables("searches", "Searches", findTable(c))
	return p
}

// findTable has a column for each search.
func findTable(c *find.Change) *report.Table {
	t := &report.Table{Caption: "Searches", Head: []string{"", "before", "after"}, Text: true}
	row := func(name string, of func(*find.Report) string) {
		t.Rows = append(t.Rows, []string{name, of(c.Before), of(c.After)})
	}
	load := func(x float64, r *find.Report) string {
		if x == 0 {
			return printer.None
		}
		return r.Show(x)
	}
	row("command", func(r *find.Report) string { return r.Command })
	row("assertions", func(r *find.Report) string { return strings.Join(r.Assertions, ", ") })
	row("estimate", func(r *find.Report) string { return load(r.Estimate, r) })
	row("highest load that held", func(r *find.Report) string { return load(r.Held, r) })
	row("lowest load that failed", func(r *find.Report) string { return load(r.Failed, r) })
	row("what failed first", func(r *find.Report) string { return r.FailsFirst })
	row("result", func(r *find.Report) string { return r.Headline() + "." })
	return t
}
