package page

import (
	"fmt"
	"strings"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/comparison"
)

// severalSets returns the page that compares three or more sets of runs.
func severalSets(c *compare.Comparisons) *Page {
	sets := c.Sets()
	var names []string
	for _, s := range sets {
		names = append(names, human.Visible(s.Name))
	}
	p := &Page{data: c, Heading: strings.Join(names, ", ")}
	p.Title = "warp: " + p.Heading
	p.Kicker = fmt.Sprintf("warp, comparison of %d sets of runs", len(sets))
	for _, v := range c.Comparisons {
		p.Lead = append(p.Lead, severalSentence(c, v))
	}
	p.lead(comparison.SeveralRemarks(c))
	for _, v := range c.Comparisons {
		name := human.Visible(comparison.PairName(c, v)) + ": "
		p.warn(name+"no verdict: ", v.Withheld, ".")
		p.warn(name, v.Warnings, ".")
	}
	for _, side := range sets {
		p.warn(human.Visible(side.Name)+": ", side.Warnings, "")
	}
	for _, s := range c.Subjects() {
		p.severalSubject(s, c)
	}
	p.noise(c.Comparisons[0])
	p.severalDetails(c)
	return p
}

// severalSentence says what the verdict of one comparison is, and names its sets.
func severalSentence(c *compare.Comparisons, v *compare.Verdicts) string {
	text := verdictSentence(v, human.Visible(v.After.Name), human.Visible(v.Before.Name))
	switch v.Verdict {
	case compare.Better, compare.Worse, compare.Equivalent: // the sentence has their names
		return text
	}
	return human.Visible(comparison.PairName(c, v)) + ": " + human.LowerFirst(text)
}

// severalSubject has a chart with the intervals of each judged metric, a row for each comparison, and a table of all metrics.
func (p *Page) severalSubject(of *compare.Subject, c *compare.Comparisons) {
	label := human.Visible(comparison.SubjectLabel(of.Op, of.Statement, of.Warmup, of.Host))
	s := section{ID: p.nextID("changes"), Title: label}
	for _, panel := range c.Panels(of) {
		if panel.Judged {
			name := func(i int) string { return human.Visible(comparison.PairName(c, c.Comparisons[i])) }
			if chart := p.intervals(label+" "+panel.Metric, panel.Rows, name, c.Comparisons[0].MinEffect); chart != nil {
				s.Blocks = append(s.Blocks, block{Chart: chart})
			}
		}
		s.Blocks = append(s.Blocks, block{Table: panelTable(label, &panel, c)})
	}
	p.section(s)
}

// panelTable shows a metric of all sets, and its changes. What has no verdict has to be opened.
func panelTable(label string, panel *compare.Panel, c *compare.Comparisons) *report.Table {
	t := &report.Table{Caption: label + " " + human.Visible(panel.Metric), Closed: !panel.Judged,
		Head: []string{"set", "before", "after", "change", "from", "to", "p", "verdict"}}
	for i, r := range panel.Rows {
		if r == nil {
			continue
		}
		t.Rows = append(t.Rows, changeCells(human.Visible(comparison.PairName(c, c.Comparisons[i])), r))
	}
	return t
}

// severalDetails shows the parameters that differ, and the command of each set.
func (p *Page) severalDetails(c *compare.Comparisons) {
	s := section{ID: "command", Title: "Commands and parameters"}
	s.order(c.Comparisons[0])
	t := &report.Table{Caption: "Parameters that differ", Head: []string{"parameter and its values"}, Text: true}
	for _, line := range comparison.SeveralParameters(c) {
		t.Rows = append(t.Rows, []string{human.Visible(line)})
	}
	s.table(t)
	s.commands(c.Sets()...)
	p.section(s)
}
