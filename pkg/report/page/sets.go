package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/comparison"
	"warp/pkg/report/printer"
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
	p.lead(comparison.Remarks(v))
	p.warn("No verdict: ", v.Withheld, ".")
	p.warn("", v.Warnings, ".")
	for _, side := range []compare.Side{v.Before, v.After} {
		p.warn(human.Visible(side.Name)+": ", side.Warnings, "")
	}
	p.judged(v)
	p.subjects(v, "", "Changes")
	p.noise(v)
	p.verdictDetails(v)
	return p
}

// noise shows the first side against itself, if that was measured.
func (p *Page) noise(v *compare.Verdicts) {
	if v.Noise != nil {
		p.subjects(v.Noise, "noise-", "The first side against itself")
	}
}

// verdictSentence says what the verdict on all judged metrics is, on which of them, and which others are better.
func verdictSentence(v *compare.Verdicts, after, before string) string {
	metrics := withVerdict(v, v.Verdict)
	on, in := "", ""
	if metrics != "" {
		on, in = " on "+metrics, " in "+metrics
	}
	switch v.Verdict {
	case compare.Better:
		return fmt.Sprintf("%s is better than %s.", after, before)
	case compare.Worse:
		return fmt.Sprintf("%s is worse than %s%s.", after, before, in) + betterSentence(v)
	case compare.Equivalent:
		return fmt.Sprintf("%s and %s are equivalent: no change of %g %% or more.", before, after, v.MinEffect)
	case compare.Undecided:
		return "Undecided: the runs cannot tell whether there is a change that matters" + in + "." + betterSentence(v)
	case compare.TooFew:
		return "There are too few runs for a verdict" + on + "."
	case compare.Withheld:
		if len(v.Withheld) == 0 {
			return "There is no verdict" + on + "." + betterSentence(v)
		}
		return "There is no verdict, because something is wrong with the runs."
	}
	return "There is no ratio to judge" + in + "."
}

// betterSentence names the metrics that are better although the verdict on all of them is another one.
func betterSentence(v *compare.Verdicts) string {
	if metrics := withVerdict(v, compare.Better); metrics != "" {
		return " Better: " + metrics + "."
	}
	return ""
}

// withVerdict names the judged metrics with a verdict, up to a limit.
func withVerdict(v *compare.Verdicts, verdict compare.Verdict) string {
	const maxNames = 4
	var names []string
	for i := range v.Subjects {
		s := &v.Subjects[i]
		if s.Host != "" {
			continue
		}
		for k := range s.Rows {
			if r := &s.Rows[k]; r.Judged && r.Verdict == verdict {
				names = append(names, human.Visible(comparison.SubjectLabel(s.Op, s.Statement, s.Warmup, "")+" "+r.Metric))
			}
		}
	}
	if n := len(names); n > maxNames {
		names = append(names[:maxNames-1], fmt.Sprintf("%d other metrics", n-maxNames+1))
	}
	return human.And(names)
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
				Label:  human.Visible(comparison.SubjectLabel(s.Op, s.Statement, s.Warmup, s.Host)) + " " + human.Visible(r.Metric),
				Figure: percentText(r.Change), State: stateOf(r.Verdict),
				Note: string(r.Verdict) + "; " + comparison.MetricText(r.Unit, r.Before.Median, largest) + " → " + comparison.MetricText(r.Unit, r.After.Median, largest),
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
		label := human.Visible(comparison.SubjectLabel(sub.Op, sub.Statement, sub.Warmup, sub.Host))
		var rows []*compare.Row
		for k := range sub.Rows {
			rows = append(rows, &sub.Rows[k])
		}
		if c := p.intervals(label, rows, func(k int) string { return rows[k].Metric }, v.MinEffect); c != nil {
			s.Blocks = append(s.Blocks, block{Chart: c})
		}
		before, after := comparison.ColumnNames(v)
		t := &report.Table{Caption: label, Head: []string{"metric", human.Visible(before), human.Visible(after), "change", "from", "to", "p", "verdict"}}
		for k := range sub.Rows {
			t.Rows = append(t.Rows, changeCells(human.Visible(sub.Rows[k].Metric), &sub.Rows[k]))
		}
		s.Blocks = append(s.Blocks, block{Table: t})
		if sub.Host == "" {
			s.Blocks = append(s.Blocks, block{Table: valuesTable(label, sub.Rows, v)})
		}
	}
	p.section(s)
}

// changeCells returns a row of a table of changes.
func changeCells(name string, r *compare.Row) []string {
	largest := max(r.Before.Median, r.After.Median)
	probability := ""
	if r.P != nil {
		probability = fmt.Sprintf("%.4f", *r.P)
	}
	return []string{name, comparison.MetricText(r.Unit, r.Before.Median, largest), comparison.MetricText(r.Unit, r.After.Median, largest),
		percentText(r.Change), percentText(r.Low), percentText(r.High), probability, string(r.Verdict)}
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
					row = append(row, printer.None)
					continue
				}
				row = append(row, comparison.MetricText(rows[k].Unit, values[i], slices.Max(values)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	add(v.Before, func(r *compare.Row) []float64 { return r.Before.Values })
	add(v.After, func(r *compare.Row) []float64 { return r.After.Values })
	return t
}

// intervals draws changes with their intervals, and a band of changes that do not matter. names returns the name of each row.
func (p *Page) intervals(title string, rows []*compare.Row, names func(i int) string, effect float64) *chart {
	c := svg.Intervals{Title: title + ": change with its interval; what lies in the band does not matter", Band: effect}
	for i, r := range rows {
		if r == nil || r.Change == nil {
			continue
		}
		name := names(i)
		c.Desc += fmt.Sprintf("%s: %s (%s to %s). ", name, percentText(r.Change), percentText(r.Low), percentText(r.High))
		c.Rows = append(c.Rows, svg.Interval{Label: columns.Cut(name, 16), Class: stateOf(r.Verdict), Estimate: *r.Change, Low: r.Low, High: r.High, Known: r.Level > 0})
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
	s.order(v)
	if len(v.Missing) > 0 {
		s.Lead = append(s.Lead, "Not in all runs: "+human.Visible(strings.Join(v.Missing, ", "))+".")
	}
	t := &report.Table{Caption: "Parameters that differ", Head: []string{"parameter", "before", "after"}, Text: true}
	if v.Before.Workload != v.After.Workload {
		t.Rows = append(t.Rows, []string{"(workload)", cmp.Or(v.Before.Workload, "unknown"), cmp.Or(v.After.Workload, "unknown")})
	}
	for _, x := range v.Parameters {
		t.Rows = append(t.Rows, []string{human.Visible(x.Name), human.Visible(compare.OrNone(x.Before)), human.Visible(compare.OrNone(x.After))})
	}
	s.table(t)
	s.commands(&v.Before, &v.After)
	p.section(s)
}

// order says in which order the runs were made, if that is known.
func (s *section) order(v *compare.Verdicts) {
	if v.Order != "" {
		s.Lead = append(s.Lead, "The runs were made in this order: "+human.Visible(v.Order)+".")
	}
}

// commands shows the command lines of sets of runs.
func (s *section) commands(sides ...*compare.Side) {
	for _, side := range sides {
		if side.Command != "" {
			s.Blocks = append(s.Blocks, block{Title: human.Visible(side.Name), Code: human.Visible(side.Command)})
		}
	}
}
