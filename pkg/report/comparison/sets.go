package comparison

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// SetsText renders comparisons of sets of runs for people.
func SetsText(w io.Writer, c *compare.Comparisons, o printer.Options) error {
	p := newPrinter(o)
	if noise := c.Comparisons[0].Noise; noise != nil {
		p.Line("%s", p.Bold("The first side against itself"))
		p.sets(compare.Single(noise))
		p.Line("")
		heading := "Both sides"
		if len(c.Comparisons) > 1 {
			heading = "All sides"
		}
		p.Line("%s", p.Bold(heading))
	}
	p.sets(c)
	return p.To(w)
}

// sets prints comparisons: the sets, the parameters that differ, a table for each subject, and what limits the verdicts.
func (p *textPrinter) sets(c *compare.Comparisons) {
	subject := func(s *compare.Subject) { p.severalSubject(s, c) }
	if len(c.Comparisons) == 1 {
		v := c.Comparisons[0]
		p.sides(v)
		p.differences(v.Before.Workload, v.After.Workload, v.Parameters)
		subject = func(s *compare.Subject) { p.subject(s, v) }
	} else {
		p.severalSides(c)
	}
	for _, s := range c.Subjects() {
		p.Line("")
		subject(s)
	}
	p.Line("")
	p.Sentences(Remarks(c)...)
	for _, s := range Withheld(c) {
		p.Paragraph("No verdict:", s+".")
	}
	for _, s := range Warnings(c) {
		p.Paragraph("Warning:", s+".")
	}
	for i, s := range c.Sets() {
		name := s.Name
		if !c.Comparisons[0].Named {
			name = []string{"Before", "After"}[i]
		}
		p.Warnings(name+", warning:", few(s.Warnings))
	}
	var assertions []results.Assertion
	for _, v := range c.Comparisons {
		assertions = append(assertions, v.Assertions...)
	}
	report.PrintAssertions(&p.Printer, assertions)
}

// few keeps the remarks of many runs from burying the table.
func few(warnings []string) []string {
	const shown = 5
	if len(warnings) <= shown {
		return warnings
	}
	return append(slices.Clone(warnings[:shown]), fmt.Sprintf("and %d more, which --json has", len(warnings)-shown))
}

func (p *textPrinter) sides(v *compare.Verdicts) {
	if v.Paired {
		p.Line("%s: %s -> %s", human.Plural(v.Before.Runs, "pair"), v.Before.Name, v.After.Name)
		return
	}
	p.Line("%s: %s -> %s: %s", v.Before.Name, human.Plural(v.Before.Runs, "run"), v.After.Name, human.Plural(v.After.Runs, "run"))
}

// severalSides names the sets and how they are compared, and lists the parameters that differ.
func (p *textPrinter) severalSides(c *compare.Comparisons) {
	sets := c.Sets()
	var names []string
	for _, s := range sets {
		names = append(names, fmt.Sprintf("%s (%s)", s.Name, human.Plural(s.Runs, "run")))
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
	for i, row := range DifferingParameters(c) {
		if i == 0 {
			p.Line("Parameters that differ:")
		}
		var values []string
		for k, value := range row[1:] {
			if value != "" {
				values = append(values, fmt.Sprintf("%s (%s)", value, sets[k].Name))
			}
		}
		p.Line(" * %s", human.Wrap(row[0]+": "+strings.Join(values, ", "), len(" * "), p.MaxWidth(), "   "))
	}
}

// Columns of the table of a subject.
const (
	columnBefore = 1 + iota
	columnAfter
	columnChange
	columnInterval
	columnP
	columnN
	columnVerdict
)

// subject shows the metrics of one operation. If there is no room for all columns, it keeps the
// verdict, the change and its interval.
func (p *textPrinter) subject(s *compare.Subject, v *compare.Verdicts) {
	before, after := ColumnNames(v)
	t := p.newVerdictTable(s.Name().String(), before, after, "change", "interval", "p", "n", "verdict")
	for i := range s.Rows {
		r := &s.Rows[i]
		before, after := Medians(r)
		change, interval, probability := changeOf(r)
		n := fmt.Sprint(len(r.Before.Values))
		if more := len(r.After.Values); more != len(r.Before.Values) {
			n += fmt.Sprintf("+%d", more)
		}
		t.add(r.Verdict, "  "+r.Metric, before+spread(r.Before), after+spread(r.After), change, interval, probability, n, verdictCell(r.Verdict))
	}
	t.Fit(p.MaxWidth(),
		printer.Without(columnN),
		func(r []string) {
			r[columnBefore], r[columnAfter] = withoutSpread(r[columnBefore]), withoutSpread(r[columnAfter])
		},
		printer.Without(columnP),
		printer.Without(columnBefore, columnAfter))
	t.print()
}

// ColumnNames returns the headings of the values of both sides.
func ColumnNames(v *compare.Verdicts) (before, after string) {
	const wide = 18
	if !v.Named || utf8.RuneCountInString(v.Before.Name) > wide || utf8.RuneCountInString(v.After.Name) > wide {
		return "before", "after"
	}
	return v.Before.Name, v.After.Name
}

// changeOf shows the change of a metric, its interval, and its p-value.
func changeOf(r *compare.Row) (change, between, p string) {
	change = signed(r.Change, r.Before.Median == r.After.Median)
	if r.Level > 0 {
		between = interval(r.Low, r.High)
	}
	if r.P != nil {
		p = probability(*r.P)
	}
	return change, between, p
}

// severalSubject shows the metrics of one operation, with a row for each set and, for all pairs, for each comparison. Metrics
// without a verdict are left out unless the report is verbose, except errors that there were.
func (p *textPrinter) severalSubject(s *compare.Subject, c *compare.Comparisons) {
	t := p.newVerdictTable(s.Name().String(), "median", "change", "interval", "p", "n", "verdict")
	const columnMedian, columnInterval, columnP, columnN = 1, 3, 4, 5
	sets := c.Sets()
	for _, panel := range c.Panels(s) {
		largest := panel.Largest()
		if !panel.Judged && !p.Verbose && !(panel.Metric == "errors" && largest > 0) {
			continue
		}
		t.add("", "  "+panel.Metric, "", "", "", "", "", "")
		add := func(name, median, n string, r *compare.Row) {
			if r == nil {
				t.add("", "    "+name, median, "", "", "", n, "")
				return
			}
			change, interval, probability := changeOf(r)
			t.add(r.Verdict, "    "+name, median, change, interval, probability, n, verdictCell(r.Verdict))
		}
		for i, sample := range panel.Samples {
			if len(sample.Values) == 0 {
				continue
			}
			var r *compare.Row
			if !c.AllPairs && i > 0 {
				r = panel.Rows[i-1]
			}
			add(sets[i].Name, MetricText(panel.Unit, sample.Median, largest)+spread(sample), fmt.Sprint(len(sample.Values)), r)
		}
		for i, r := range panel.Rows {
			if c.AllPairs && r != nil {
				add(PairName(c, c.Comparisons[i]), "", "", r)
			}
		}
	}
	t.Fit(p.MaxWidth(),
		printer.Without(columnN),
		func(r []string) { r[columnMedian] = withoutSpread(r[columnMedian]) },
		printer.Without(columnP))
	if t.Width()-p.MaxWidth() > t.Widths()[0]-minName {
		t.stack(columnInterval)
	}
	p.shortenNames(t.Table)
	t.Fit(p.MaxWidth(), printer.Without(columnMedian))
	t.print()
}

// minName is the min width of the names of sets.
const minName = 12

// shortenNames cuts the names of sets if there is no room for the table.
func (p *textPrinter) shortenNames(t *printer.Table) {
	over := t.Width() - p.MaxWidth()
	if over <= 0 {
		return
	}
	limit := max(minName, t.Widths()[0]-over)
	for _, r := range t.Rows[1:] {
		if name := []rune(r[0]); len(name) > limit {
			half := (limit - 5) / 2 // after four blanks, before the ellipsis
			r[0] = string(name[:4+half]) + "…" + string(name[len(name)-(limit-5-half):])
		}
	}
}
