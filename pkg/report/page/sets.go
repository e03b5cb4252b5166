package page

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/svg"
)

// Comparisons returns the page that compares sets of runs.
func Comparisons(c *compare.Comparisons) *Page {
	if len(c.Comparisons) == 1 {
		return twoSets(c.Comparisons[0])
	}
	return severalSets(c)
}

// twoSets returns the page that compares two sets of runs.
func twoSets(v *compare.Verdicts) *Page {
	before, after := human.Visible(v.Before.Name), human.Visible(v.After.Name)
	p := &Page{data: v, Heading: before + " and " + after}
	p.Title = "warp: " + p.Heading
	p.Kicker = fmt.Sprintf("warp, comparison of %d and %d runs", v.Before.Runs, v.After.Runs)
	if v.Paired {
		p.Kicker = fmt.Sprintf("warp, comparison of %d pairs of runs", v.Before.Runs)
	}
	p.Lead = append(p.Lead, verdictSentence(v, after, before))
	for _, s := range report.Remarks(v) {
		p.Lead = append(p.Lead, human.Visible(s))
	}
	for _, s := range v.Withheld {
		p.Warnings = append(p.Warnings, "No verdict: "+human.Visible(s)+".")
	}
	for _, s := range v.Warnings {
		p.Warnings = append(p.Warnings, human.Visible(s)+".")
	}
	for _, side := range []compare.Side{v.Before, v.After} {
		for _, s := range side.Warnings {
			p.Warnings = append(p.Warnings, human.Visible(side.Name)+": "+human.Visible(s))
		}
	}
	p.judged(v)
	p.subjects(v, "", "Changes")
	if v.Noise != nil {
		p.subjects(v.Noise, "noise-", "The first side with itself")
	}
	p.verdictDetails(v)
	return p
}

func verdictSentence(v *compare.Verdicts, after, before string) string {
	switch v.Verdict {
	case compare.Better:
		return fmt.Sprintf("%s is better than %s.", after, before)
	case compare.Worse:
		return fmt.Sprintf("%s is worse than %s in what is judged.", after, before)
	case compare.Equivalent:
		return fmt.Sprintf("%s and %s are equivalent: no change of %g %% or more.", before, after, v.MinEffect)
	case compare.Undecided:
		return "Undecided: the runs cannot tell whether there is a change that matters."
	case compare.TooFew:
		return "There are too few runs for a verdict."
	case compare.Withheld:
		if len(v.Withheld) == 0 {
			return "There is no verdict, because the runs drift."
		}
		return "There is no verdict, because something is wrong with the runs."
	}
	return "There is no ratio to judge."
}

func stateOf(v compare.Verdict) string {
	switch v {
	case compare.Better, compare.Equivalent:
		return "good"
	case compare.Worse:
		return "bad"
	case compare.Withheld, compare.TooFew, compare.Undecided:
		return "warn"
	}
	return ""
}

// judged has a card for each metric with a verdict, up to a limit.
func (p *Page) judged(v *compare.Verdicts) {
	const maxCards = 8
	for i := range v.Subjects {
		s := &v.Subjects[i]
		for k := range s.Rows {
			r := &s.Rows[k]
			if !r.Judged || len(p.Cards) == maxCards {
				continue
			}
			largest := max(r.Before.Median, r.After.Median)
			p.Cards = append(p.Cards, card{
				Label:  human.Visible(report.SubjectLabel(s.Op, s.Statement, s.Warmup, s.Host)) + " " + human.Visible(r.Metric),
				Figure: percentText(r.Change), State: stateOf(r.Verdict),
				Note: string(r.Verdict) + "; " + report.MetricText(r.Unit, r.Before.Median, largest) + " → " + report.MetricText(r.Unit, r.After.Median, largest),
			})
		}
	}
}

func percentText(p *float64) string {
	if p == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f %%", *p)
}

// subjects shows the intervals of all changes and the values of all runs.
func (p *Page) subjects(v *compare.Verdicts, id, title string) {
	s := section{ID: id + "changes", Title: title}
	for i := range v.Subjects {
		sub := &v.Subjects[i]
		label := human.Visible(report.SubjectLabel(sub.Op, sub.Statement, sub.Warmup, sub.Host))
		if c := p.intervals(label, sub.Rows, v.MinEffect); c != nil {
			s.Blocks = append(s.Blocks, block{Chart: c})
		}
		before, after := report.ColumnNames(v)
		t := &report.Table{Caption: label, Head: []string{"metric", human.Visible(before), human.Visible(after), "change", "from", "to", "p", "verdict"}}
		for k := range sub.Rows {
			r := &sub.Rows[k]
			largest := max(r.Before.Median, r.After.Median)
			probability := ""
			if r.P != nil {
				probability = fmt.Sprintf("%.4f", *r.P)
			}
			t.Rows = append(t.Rows, []string{human.Visible(r.Metric), report.MetricText(r.Unit, r.Before.Median, largest), report.MetricText(r.Unit, r.After.Median, largest),
				percentText(r.Change), percentText(r.Low), percentText(r.High), probability, string(r.Verdict)})
		}
		s.Blocks = append(s.Blocks, block{Table: t})
		if sub.Host == "" {
			s.Blocks = append(s.Blocks, block{Table: valuesTable(label, sub.Rows, v)})
		}
	}
	p.section(s)
}

// valuesTable shows the values of each run.
func valuesTable(label string, rows []compare.Row, v *compare.Verdicts) *report.Table {
	t := &report.Table{Caption: label + ": each run", Head: []string{"run"}, Closed: true}
	for k := range rows {
		t.Head = append(t.Head, human.Visible(rows[k].Metric))
	}
	add := func(side compare.Side, of func(*compare.Row) []float64) {
		for i := range side.Runs {
			name := human.Visible(side.Name) + " " + strconv.Itoa(i+1)
			row := []string{name}
			for k := range rows {
				values := of(&rows[k])
				if i >= len(values) {
					row = append(row, report.None)
					continue
				}
				row = append(row, report.MetricText(rows[k].Unit, values[i], slices.Max(values)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	add(v.Before, func(r *compare.Row) []float64 { return r.Before.Values })
	add(v.After, func(r *compare.Row) []float64 { return r.After.Values })
	return t
}

// intervals draws the change of each metric with its interval, and a band of changes that do not
// matter.
func (p *Page) intervals(label string, rows []compare.Row, effect float64) *chart {
	c := svg.Intervals{Title: label + ": change with its interval; what lies in the band does not matter", Band: effect}
	for i := range rows {
		r := &rows[i]
		if r.Change == nil {
			continue
		}
		c.Desc += fmt.Sprintf("%s: %s (%s to %s). ", r.Metric, percentText(r.Change), percentText(r.Low), percentText(r.High))
		c.Rows = append(c.Rows, svg.Interval{Label: r.Metric, Class: stateOf(r.Verdict), Estimate: *r.Change, Low: r.Low, High: r.High, Known: r.Level > 0})
	}
	if len(c.Rows) == 0 {
		return nil
	}
	c.ID = p.nextID("intervals")
	return &chart{ID: c.ID, Title: c.Title, SVG: template.HTML(c.SVG()), Labeled: true}
}

// verdictDetails shows the commands and the parameters that differ.
func (p *Page) verdictDetails(v *compare.Verdicts) {
	s := section{ID: "command", Title: "Commands and parameters"}
	if v.Order != "" {
		s.Lead = append(s.Lead, "The runs were made in this order: "+human.Visible(v.Order)+".")
	}
	if len(v.Missing) > 0 {
		s.Lead = append(s.Lead, "Not in all runs: "+human.Visible(strings.Join(v.Missing, ", "))+".")
	}
	t := &report.Table{Caption: "Parameters that differ", Head: []string{"parameter", "before", "after"}, Text: true}
	for _, x := range v.Parameters {
		t.Rows = append(t.Rows, []string{human.Visible(x.Name), human.Visible(compare.OrNone(x.Before)), human.Visible(compare.OrNone(x.After))})
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	s.commands(&v.Before, &v.After)
	p.section(s)
}

// commands shows the command lines of sets of runs.
func (s *section) commands(sides ...*compare.Side) {
	for _, side := range sides {
		if side.Command != "" {
			s.Blocks = append(s.Blocks, block{Title: human.Visible(side.Name), Code: human.Visible(side.Command)})
		}
	}
}
