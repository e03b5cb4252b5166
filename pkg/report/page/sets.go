package page

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"

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
	var names []string
	for _, s := range c.Sets() {
		names = append(names, s.Name)
	}
	first := c.Comparisons[0]
	kicker := fmt.Sprintf("comparison of %d sets of runs", len(names))
	switch {
	case len(names) == 2 && first.Paired:
		kicker = fmt.Sprintf("comparison of %d pairs of runs", first.Before.Runs)
	case len(names) == 2:
		kicker = fmt.Sprintf("comparison of %d and %d runs", first.Before.Runs, first.After.Runs)
	}
	p := newPage(c.Document(), kicker, human.And(names), nil)
	for _, v := range c.Comparisons {
		p.Lead = append(p.Lead, leadOf(c, v))
	}
	p.Lead = append(p.Lead, comparison.Remarks(c)...)
	p.warn("No verdict: ", comparison.Withheld(c), ".")
	p.warn("", comparison.Warnings(c), ".")
	for _, side := range c.Sets() {
		p.warn(side.Name+": ", side.Warnings, "")
	}
	if len(c.Comparisons) == 1 {
		p.judged(first)
		p.subjects(first, "", "Changes")
	} else {
		for _, s := range c.Subjects() {
			p.severalSubject(s, c)
		}
	}
	if first.Noise != nil {
		p.subjects(first.Noise, "noise-", "The first side against itself")
	}
	p.setDetails(c)
	return p
}

// leadOf says what the verdict of a comparison is. If there are several, the sentence names the sets.
func leadOf(c *compare.Comparisons, v *compare.Verdicts) string {
	text := verdictSentence(v, v.After.Name, v.Before.Name)
	switch v.Verdict {
	case compare.Better, compare.Worse, compare.Equivalent: // the sentence has their names
		return text
	}
	if len(c.Comparisons) == 1 {
		return text
	}
	return comparison.PairName(c, v) + ": " + human.LowerFirst(text)
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
	for s, r := range v.Rows() {
		if s.Host == "" && r.Judged && r.Verdict == verdict {
			names = append(names, s.Name().String()+" "+r.Metric)
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
	for s, r := range v.Rows() {
		if !r.Judged || len(p.Cards) == maxCards {
			continue
		}
		before, after := comparison.Medians(r)
		p.Cards = append(p.Cards, card{Label: s.Name().String() + " " + r.Metric, Figure: percentText(r.Change), State: stateOf(r.Verdict),
			Note: string(r.Verdict) + "; " + before + " → " + after})
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
		label := sub.Name().String()
		var rows []*compare.Row
		for k := range sub.Rows {
			rows = append(rows, &sub.Rows[k])
		}
		s.chart(p.intervals(label, rows, func(k int) string { return rows[k].Metric }, v.MinEffect))
		before, after := comparison.ColumnNames(v)
		t := &report.Table{Caption: label, Head: []string{"metric", before, after, "change", "from", "to", "p", "verdict"}}
		for k := range sub.Rows {
			t.Rows = append(t.Rows, changeCells(sub.Rows[k].Metric, &sub.Rows[k]))
		}
		s.table(t)
		if sub.Host == "" {
			s.table(valuesTable(label, sub.Rows, v))
		}
	}
	p.section(s)
}

// severalSubject has a chart with the intervals of each judged metric, a row for each comparison, and a table of all metrics.
func (p *Page) severalSubject(of *compare.Subject, c *compare.Comparisons) {
	label := of.Name().String()
	s := section{ID: p.nextID("changes"), Title: label}
	for _, panel := range c.Panels(of) {
		if panel.Judged {
			name := func(i int) string { return comparison.PairName(c, c.Comparisons[i]) }
			s.chart(p.intervals(label+" "+panel.Metric, panel.Rows, name, c.Comparisons[0].MinEffect))
		}
		s.table(panelTable(label, &panel, c))
	}
	p.section(s)
}

// panelTable shows a metric of all sets, and its changes. What has no verdict has to be opened.
func panelTable(label string, panel *compare.Panel, c *compare.Comparisons) *report.Table {
	t := &report.Table{Caption: label + " " + panel.Metric, Closed: !panel.Judged,
		Head: []string{"set", "before", "after", "change", "from", "to", "p", "verdict"}}
	for i, r := range panel.Rows {
		if r == nil {
			continue
		}
		t.Rows = append(t.Rows, changeCells(comparison.PairName(c, c.Comparisons[i]), r))
	}
	return t
}

// changeCells returns a row of a table of changes.
func changeCells(name string, r *compare.Row) []string {
	probability := ""
	if r.P != nil {
		probability = fmt.Sprintf("%.4f", *r.P)
	}
	before, after := comparison.Medians(r)
	return []string{name, before, after, percentText(r.Change), percentText(r.Low), percentText(r.High), probability, string(r.Verdict)}
}

// valuesTable shows the values of each run.
func valuesTable(label string, rows []compare.Row, v *compare.Verdicts) *report.Table {
	t := &report.Table{Caption: label + ": each run", Head: []string{"run"}, Closed: true}
	for k := range rows {
		t.Head = append(t.Head, rows[k].Metric)
	}
	add := func(side compare.Side, of func(*compare.Row) []float64) {
		for i := range side.Runs {
			name := side.Name + " " + strconv.Itoa(i+1)
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

// setDetails shows the order of the runs, the parameters that differ, and the command of each set.
func (p *Page) setDetails(c *compare.Comparisons) {
	s := section{ID: "command", Title: "Commands and parameters"}
	if order := c.Comparisons[0].Order; order != "" {
		s.Lead = append(s.Lead, "The runs were made in this order: "+order+".")
	}
	sets := c.Sets()
	head := []string{"parameter"}
	if len(sets) == 2 {
		before, after := comparison.ColumnNames(c.Comparisons[0])
		head = append(head, before, after)
	} else {
		for _, side := range sets {
			head = append(head, side.Name)
		}
	}
	s.table(&report.Table{Caption: "Parameters that differ", Head: head, Rows: comparison.DifferingParameters(c), Text: true})
	for _, side := range sets {
		s.command(side.Name, side.Command)
	}
	p.section(s)
}

// command shows a command line under a title.
func (s *section) command(title, line string) {
	if line != "" {
		s.Blocks = append(s.Blocks, block{Title: title, Code: human.Visible(line)})
	}
}

// commandSection shows the command line that made the results.
func (p *Page) commandSection(line string) {
	s := section{ID: "command", Title: "Command"}
	s.command("", line)
	p.section(s)
}
