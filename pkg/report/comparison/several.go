package comparison

import (
	"fmt"
	"slices"
	"strings"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// Columns of the table of several sets.
const (
	severalValue = 1 + iota
	severalChange
	severalInterval
	severalP
	severalN
	severalVerdict
	severalColumns
)

// severalSets shows comparisons of three or more sets.
func (p *textPrinter) severalSets(c *compare.Comparisons) {
	sets := c.Sets()
	var names []string
	for _, s := range sets {
		names = append(names, fmt.Sprintf("%s (%s)", s.Name, human.Count(s.Runs, "run", "runs")))
	}
	how := "each compared with "
	if c.Comparisons[0].Paired {
		how = "each paired with "
	}
	if c.AllPairs {
		how += "all others"
	} else {
		how += sets[0].Name
	}
	p.Paragraph("", fmt.Sprintf("%d sets, %s: %s", len(sets), how, strings.Join(names, ", ")))
	if lines := SeveralParameters(c); len(lines) > 0 {
		p.Line("Parameters that differ:")
		for _, l := range lines {
			p.Line(" * %s", human.Wrap(l, len(" * "), p.MaxWidth(), "   "))
		}
	}
	for _, s := range c.Subjects() {
		p.Line("")
		p.severalSubject(s, c)
	}
	p.Line("")
	for _, s := range SeveralRemarks(c) {
		p.Sentences(s)
	}
	for _, s := range together(c, func(v *compare.Verdicts) []string { return v.Withheld }) {
		p.Paragraph("No verdict:", s+".")
	}
	for _, s := range together(c, func(v *compare.Verdicts) []string { return v.Warnings }) {
		p.Paragraph("Warning:", s+".")
	}
	for _, s := range sets {
		p.Warnings(s.Name+", warning:", few(s.Warnings))
	}
	var judged []results.Assertion
	for _, v := range c.Comparisons {
		judged = append(judged, v.Assertions...)
	}
	report.PrintAssertions(&p.Printer, judged)
}

// SeveralParameters says what the parameters that differ are in each set.
func SeveralParameters(c *compare.Comparisons) (lines []string) {
	type values map[string]string // by set
	all := map[string]values{}
	var order []string
	for _, v := range c.Comparisons {
		for _, x := range v.Parameters {
			if all[x.Name] == nil {
				all[x.Name], order = values{}, append(order, x.Name)
			}
			all[x.Name][v.Before.Name], all[x.Name][v.After.Name] = x.Before, x.After
		}
	}
	for _, name := range order {
		var parts []string
		for _, s := range c.Sets() {
			if value, ok := all[name][s.Name]; ok {
				parts = append(parts, fmt.Sprintf("%s (%s)", compare.OrNone(value), s.Name))
			}
		}
		lines = append(lines, name+": "+strings.Join(parts, ", "))
	}
	return lines
}

// SeveralRemarks returns the sentences below the tables.
func SeveralRemarks(c *compare.Comparisons) []string {
	all := together(c, remarks)
	for _, s := range together(c, func(v *compare.Verdicts) []string { return v.Missing }) {
		all = append(all, "Not in all runs: "+s+".")
	}
	if c.Together > 0 {
		all = append(all, fmt.Sprintf("Judged by runs, with Holm's correction for all %d p-values of the table together; intervals of metrics without a verdict are at 95%% each.", c.Together))
	}
	return all
}

// together returns what is said of the comparisons, each once, with the names of those that it is about unless these are all.
func together(c *compare.Comparisons, of func(*compare.Verdicts) []string) (all []string) {
	var order []string
	about := map[string][]string{}
	for _, v := range c.Comparisons {
		for _, s := range of(v) {
			if about[s] == nil {
				order = append(order, s)
			}
			about[s] = append(about[s], PairName(c, v))
		}
	}
	for _, s := range order {
		if len(about[s]) < len(c.Comparisons) && s != equivalence(c.Comparisons[0]) {
			s = strings.Join(about[s], ", ") + ": " + s
		}
		all = append(all, s)
	}
	return all
}

// PairName names one of several comparisons.
func PairName(c *compare.Comparisons, v *compare.Verdicts) string {
	if !c.AllPairs {
		return v.After.Name
	}
	return v.Before.Name + " -> " + v.After.Name
}

// severalSubject shows the metrics of one operation, with a row for each set and, for all pairs, for each comparison. Metrics
// without a verdict are left out unless the report is verbose, except errors that there were.
func (p *textPrinter) severalSubject(s *compare.Subject, c *compare.Comparisons) {
	head := []string{SubjectLabel(s.Op, s.Statement, s.Warmup, s.Host), "median", "change", "interval", "p", "n", "verdict"}
	t := printer.NewTable(head, nil, severalValue, severalVerdict)
	verdicts := []compare.Verdict{""}
	row := func(verdict compare.Verdict, cells []string) {
		t.Add(cells...)
		verdicts = append(verdicts, verdict)
	}
	sets := c.Sets()
	for _, panel := range c.Panels(s) {
		if !panel.Judged && !p.Verbose && !(panel.Metric == "errors" && largest(&panel) > 0) {
			continue
		}
		head := make([]string, severalColumns)
		head[0] = "  " + panel.Metric
		row("", head)
		for i, sample := range panel.Samples {
			if len(sample.Values) == 0 {
				continue
			}
			cells := make([]string, severalColumns)
			var verdict compare.Verdict
			if k := i - 1; !c.AllPairs && k >= 0 && panel.Rows[k] != nil {
				cells, verdict = severalChanges(panel.Rows[k]), panel.Rows[k].Verdict
			}
			cells[0] = "    " + sets[i].Name
			cells[severalValue] = MetricText(panel.Unit, sample.Median, largest(&panel)) + spread(sample)
			cells[severalN] = fmt.Sprint(len(sample.Values))
			row(verdict, cells)
		}
		for i, r := range panel.Rows {
			if c.AllPairs && r != nil {
				cells := severalChanges(r)
				cells[0] = "    " + PairName(c, c.Comparisons[i])
				row(r.Verdict, cells)
			}
		}
	}
	t.Fit(p.MaxWidth(),
		func(r []string) { r[severalN] = "" },
		func(r []string) { r[severalValue] = withoutSpread(r[severalValue]) },
		func(r []string) { r[severalP] = "" })
	p.shortenNames(t)
	t.Fit(p.MaxWidth(), func(r []string) { r[severalInterval] = "" })
	p.Table(t, func(row, column int, cell string) string {
		switch {
		case row == 0 && column == 0:
			return p.Bold(cell)
		case row > 0 && column == severalVerdict:
			return p.paintVerdict(verdicts[row], cell)
		}
		return cell
	})
}

// shortenNames cuts the names of sets if there is no room for the table.
func (p *textPrinter) shortenNames(t *printer.Table) {
	const min = 12
	over := t.Width() - p.MaxWidth()
	if over <= 0 {
		return
	}
	limit := max(min, t.Widths()[0]-over)
	for _, r := range t.Rows[1:] {
		if name := []rune(r[0]); len(name) > limit {
			half := (limit - 5) / 2 // after four blanks, before the ellipsis
			r[0] = string(name[:4+half]) + "…" + string(name[len(name)-(limit-5-half):])
		}
	}
}

// largest returns the largest median, which decides on the unit.
func largest(p *compare.Panel) float64 {
	return slices.MaxFunc(p.Samples, func(a, b compare.Sample) int {
		if a.Median < b.Median {
			return -1
		}
		return 1
	}).Median
}

// severalChanges returns the cells of a comparison, without its name and values.
func severalChanges(r *compare.Row) []string {
	of := cells(r)
	c := make([]string, severalColumns)
	c[severalChange], c[severalInterval], c[severalP], c[severalVerdict] = of[columnChange], of[columnInterval], of[columnP], of[columnVerdict]
	return c
}
