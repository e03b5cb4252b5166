package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/svg"
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
		p.Lead = append(p.Lead, severalSentence(v))
	}
	for _, s := range report.SeveralRemarks(c) {
		p.Lead = append(p.Lead, human.Visible(s))
	}
	for _, v := range c.Comparisons {
		name := human.Visible(report.PairName(c, v)) + ": "
		for _, s := range v.Withheld {
			p.Warnings = append(p.Warnings, name+"no verdict: "+human.Visible(s)+".")
		}
		for _, s := range v.Warnings {
			p.Warnings = append(p.Warnings, name+human.Visible(s)+".")
		}
	}
	for _, side := range sets {
		for _, s := range side.Warnings {
			p.Warnings = append(p.Warnings, human.Visible(side.Name)+": "+human.Visible(s))
		}
	}
	for _, s := range c.Subjects() {
		p.severalSubject(s, c)
	}
	p.severalDetails(c)
	return p
}

func severalSentence(v *compare.Verdicts) string {
	return verdictSentence(v, human.Visible(v.After.Name), human.Visible(v.Before.Name))
}

// severalSubject has a chart with the intervals of each judged metric, a row for each comparison, and a table of all metrics.
func (p *Page) severalSubject(of *compare.Subject, c *compare.Comparisons) {
	label := human.Visible(report.SubjectLabel(of.Op, of.Statement, of.Warmup, of.Host))
	s := section{ID: p.nextID("changes"), Title: label}
	for _, panel := range c.Panels(of) {
		if panel.Judged {
			if chart := p.panel(label, &panel, c); chart != nil {
				s.Blocks = append(s.Blocks, block{Chart: chart})
			}
		}
		s.Blocks = append(s.Blocks, block{Table: panelTable(label, &panel, c)})
	}
	p.section(s)
}

// panel draws the changes of a metric in all comparisons.
func (p *Page) panel(label string, panel *compare.Panel, c *compare.Comparisons) *chart {
	draw := svg.Intervals{Title: fmt.Sprintf("%s %s: change with its interval; what lies in the band does not matter", label, panel.Metric), Band: c.Comparisons[0].MinEffect}
	for i, r := range panel.Rows {
		if r == nil || r.Change == nil {
			continue
		}
		name := human.Visible(report.PairName(c, c.Comparisons[i]))
		draw.Desc += fmt.Sprintf("%s: %s (%s to %s). ", name, percentText(r.Change), percentText(r.Low), percentText(r.High))
		draw.Rows = append(draw.Rows, svg.Interval{Label: report.Cut(name, 15), Class: stateOf(r.Verdict), Estimate: *r.Change, Low: r.Low, High: r.High, Known: r.Level > 0})
	}
	if len(draw.Rows) == 0 {
		return nil
	}
	draw.ID = p.nextID("intervals")
	return &chart{ID: draw.ID, Title: draw.Title, SVG: template.HTML(draw.SVG()), Labeled: true}
}

// panelTable shows a metric of all sets, and its changes. What has no verdict has to be opened.
func panelTable(label string, panel *compare.Panel, c *compare.Comparisons) *report.Table {
	t := &report.Table{Caption: label + " " + human.Visible(panel.Metric), Closed: !panel.Judged,
		Head: []string{"set", "before", "after", "change", "from", "to", "p", "verdict"}}
	for i, r := range panel.Rows {
		if r == nil {
			continue
		}
		probability := ""
		if r.P != nil {
			probability = fmt.Sprintf("%.4f", *r.P)
		}
		largest := slices.Max([]float64{r.Before.Median, r.After.Median})
		t.Rows = append(t.Rows, []string{human.Visible(report.PairName(c, c.Comparisons[i])), report.MetricText(r.Unit, r.Before.Median, largest),
			report.MetricText(r.Unit, r.After.Median, largest), percentText(r.Change), percentText(r.Low), percentText(r.High), probability, string(r.Verdict)})
	}
	return t
}

// severalDetails shows the parameters that differ, and the command of each set.
func (p *Page) severalDetails(c *compare.Comparisons) {
	s := section{ID: "command", Title: "Commands and parameters"}
	t := &report.Table{Caption: "Parameters that differ", Head: []string{"parameter and its values"}, Text: true}
	for _, line := range report.SeveralParameters(c) {
		t.Rows = append(t.Rows, []string{human.Visible(line)})
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	s.commands(c.Sets()...)
	p.section(s)
}
