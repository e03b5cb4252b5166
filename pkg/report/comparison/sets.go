package comparison

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// TwoRuns is the warning about comparisons of single runs.
const TwoRuns = "Two runs prove nothing: runs of the same thing differ, too. For a verdict, compare several runs of each " +
	"(warp cmp 'before-*.csv.zst' 'after-*.csv.zst'), or have warp ab make them in turns."

// changes is the table of the changes between two single runs.
func (p *textPrinter) changes(ops []compare.OpChange) {
	if len(ops) == 0 {
		return
	}
	p.Line("%s", separator)
	t := printer.NewTable(nil, nil, 1, 4)
	for i := range ops {
		c := &ops[i]
		if i > 0 {
			t.Add("", "", "", "")
		}
		t.Add(SubjectLabel(c.Op, c.Statement, c.Warmup, ""), "before", "after", "change")
		for _, m := range c.Metrics {
			percent := percent(m.Change, 1)
			if m.Change.Before == m.Change.After {
				percent = "0.0%"
			}
			largest := max(m.Change.Before, m.Change.After)
			t.Add("  "+m.Metric, MetricText(m.Unit, m.Change.Before, largest), MetricText(m.Unit, m.Change.After, largest), percent)
		}
	}
	p.Table(t, nil)
	p.Line("")
	p.Sentences(TwoRuns)
}

// MetricText shows a metric in the unit that fits the largest of the compared values.
func MetricText(u results.Unit, x, largest float64) string {
	switch u {
	case results.BytesPerSecond:
		return human.SegmentUnit(largest).Value(x, largest)
	case results.ObjectsPerSecond:
		if largest >= 1000 {
			return fmt.Sprintf("%.0f/s", x)
		}
		return fmt.Sprintf("%.4g/s", x)
	case results.Share:
		return fmt.Sprintf("%.2f%%", 100*x)
	}
	return human.Millis(x)
}

// SubjectLabel names the subject of metrics.
func SubjectLabel(op string, statement int, warmup bool, host string) string {
	label := op
	if op == "" {
		label = "Total"
	}
	if statement > 0 {
		label = fmt.Sprintf("Statement %d %s", statement, label)
	}
	if warmup {
		label += " (warm-up)"
	}
	if host != "" {
		label += ", " + strings.TrimPrefix(strings.TrimPrefix(host, "http://"), "https://")
	}
	return label
}

// SetsJSON renders comparisons of sets of runs as one JSON document. A single one is a document by itself.
func SetsJSON(w io.Writer, c *compare.Comparisons) error {
	if len(c.Comparisons) == 1 {
		return printer.JSON(w, c.Comparisons[0])
	}
	return printer.JSON(w, c)
}

// SetsText renders comparisons of sets of runs for people.
func SetsText(w io.Writer, c *compare.Comparisons, o printer.Options) error {
	p := newPrinter(o)
	p.noise(c)
	if len(c.Comparisons) == 1 {
		p.twoSets(c.Comparisons[0])
	} else {
		p.severalSets(c)
	}
	return p.To(w)
}

// noise shows the comparison of the first side against itself, if there is one, and a heading for what follows.
func (p *textPrinter) noise(c *compare.Comparisons) {
	if c.Comparisons[0].Noise == nil {
		return
	}
	p.Line("%s", p.Bold("The first side against itself"))
	p.verdicts(c.Comparisons[0].Noise)
	p.Line("")
	heading := "Both sides"
	if len(c.Comparisons) > 1 {
		heading = "All sides"
	}
	p.Line("%s", p.Bold(heading))
}

// twoSets shows a single comparison.
func (p *textPrinter) twoSets(v *compare.Verdicts) {
	p.verdicts(v)
	report.PrintAssertions(&p.Printer, v.Assertions)
}

func (p *textPrinter) verdicts(v *compare.Verdicts) {
	p.sides(v)
	p.differences(v.Before.Workload, v.After.Workload, v.Parameters)
	for i := range v.Subjects {
		p.Line("")
		p.subject(&v.Subjects[i], v)
	}
	p.Line("")
	for _, s := range Remarks(v) {
		p.Sentences(s)
	}
	if len(v.Missing) > 0 {
		p.Sentences("Not in all runs: " + strings.Join(v.Missing, ", ") + ".")
	}
	for _, s := range v.Withheld {
		p.Paragraph("No verdict:", s+".")
	}
	for _, s := range v.Warnings {
		p.Paragraph("Warning:", s+".")
	}
	before, after := sideNames(v)
	p.Warnings(before+", warning:", few(v.Before.Warnings))
	p.Warnings(after+", warning:", few(v.After.Warnings))
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
		p.Line("%s: %s -> %s", human.Count(v.Before.Runs, "pair", "pairs"), v.Before.Name, v.After.Name)
		return
	}
	p.Line("%s: %s -> %s: %s", v.Before.Name, human.Count(v.Before.Runs, "run", "runs"), v.After.Name, human.Count(v.After.Runs, "run", "runs"))
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
	verdictColumns
)

// subject shows the metrics of one operation. If there is no room for all columns, it keeps the
// verdict, the change and its interval.
func (p *textPrinter) subject(s *compare.Subject, v *compare.Verdicts) {
	before, after := ColumnNames(v)
	head := []string{SubjectLabel(s.Op, s.Statement, s.Warmup, s.Host), before, after, "change", "interval", "p", "n", "verdict"}
	t := printer.NewTable(head, nil, columnBefore, columnVerdict)
	for i := range s.Rows {
		t.Add(cells(&s.Rows[i])...)
	}
	t.Fit(p.MaxWidth(),
		func(r []string) { r[columnN] = "" },
		func(r []string) {
			r[columnBefore], r[columnAfter] = withoutSpread(r[columnBefore]), withoutSpread(r[columnAfter])
		},
		func(r []string) { r[columnP] = "" },
		func(r []string) { r[columnBefore], r[columnAfter] = "", "" })
	p.Table(t, func(row, column int, cell string) string {
		switch {
		case row == 0 && column == 0:
			return p.Bold(cell)
		case row > 0 && column == columnVerdict:
			return p.paintVerdict(s.Rows[row-1].Verdict, cell)
		}
		return cell
	})
}

// ColumnNames returns the headings of the values of both sides.
func ColumnNames(v *compare.Verdicts) (before, after string) {
	const wide = 18
	if !v.Named || utf8.RuneCountInString(v.Before.Name) > wide || utf8.RuneCountInString(v.After.Name) > wide {
		return "before", "after"
	}
	return v.Before.Name, v.After.Name
}

// sideNames begin the warnings of the runs of each side.
func sideNames(v *compare.Verdicts) (before, after string) {
	if !v.Named {
		return "Before", "After"
	}
	return v.Before.Name, v.After.Name
}

func (p *textPrinter) paintVerdict(v compare.Verdict, cell string) string {
	switch v {
	case compare.Better:
		return p.Paint(cell, color.FgGreen)
	case compare.Worse:
		return p.Paint(cell, color.FgRed)
	case compare.Withheld, compare.TooFew:
		return p.Paint(cell, color.FgYellow)
	}
	return cell
}

func cells(r *compare.Row) []string {
	c := make([]string, verdictColumns)
	c[0] = "  " + r.Metric
	largest := max(r.Before.Median, r.After.Median)
	c[columnBefore] = MetricText(r.Unit, r.Before.Median, largest) + spread(r.Before)
	c[columnAfter] = MetricText(r.Unit, r.After.Median, largest) + spread(r.After)
	c[columnChange] = signed(r.Change, r.Before.Median == r.After.Median)
	if r.Level > 0 {
		c[columnInterval] = fmt.Sprintf("%s…%s", bounded(r.Low, "-∞"), bounded(r.High, "+∞"))
	}
	if r.P != nil {
		c[columnP] = probability(*r.P)
	}
	c[columnN] = fmt.Sprint(len(r.Before.Values))
	if n := len(r.After.Values); n != len(r.Before.Values) {
		c[columnN] += fmt.Sprintf("+%d", n)
	}
	switch r.Verdict {
	case compare.Undecided:
		c[columnVerdict] = "~ undecided"
	case compare.NoRatio, compare.TooFew:
		c[columnVerdict] = "-"
	default:
		c[columnVerdict] = string(r.Verdict)
	}
	return c
}

// spread shows the spread of a median, always as wide as the column needs.
func spread(s compare.Sample) string {
	if s.Spread == nil {
		return ""
	}
	text := fmt.Sprintf("±%.*f%%", digitsOf(*s.Spread), *s.Spread)
	return " " + strings.Repeat(" ", max(0, 5-utf8.RuneCountInString(text))) + text
}

func withoutSpread(cell string) string {
	value, _, _ := strings.Cut(cell, "±")
	return strings.TrimRight(value, " ")
}

// digitsOf returns the number of meaningful digits of a percentage.
func digitsOf(percent float64) int {
	if math.Abs(percent) < 9.95 {
		return 1
	}
	return 0
}

func signed(percent *float64, same bool) string {
	switch {
	case percent == nil && same:
		return "0.0%"
	case percent == nil:
		return "new"
	}
	return fmt.Sprintf("%+.1f%%", *percent)
}

func bounded(percent *float64, infinite string) string {
	if percent == nil {
		return infinite
	}
	return fmt.Sprintf("%+.1f%%", *percent)
}

func probability(p float64) string {
	if p < .0001 {
		return "<.0001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.4f", p), "0")
}

// Remarks returns the sentences below the table.
func Remarks(v *compare.Verdicts) (all []string) {
	all = remarks(v)
	if len(v.Judged()) == 0 || hasVerdict(v, compare.TooFew) {
		return all
	}
	return append(all, "Judged by runs, with Holm's correction; intervals of metrics without a verdict are at 95% each.")
}

// remarks returns the sentences about this comparison alone.
func remarks(v *compare.Verdicts) (all []string) {
	judged := v.Judged()
	if len(judged) == 0 {
		return nil
	}
	unit, units := "run", "runs a side"
	if v.Paired {
		unit, units = "pair", "pairs"
	}
	has := func(verdict compare.Verdict) bool { return hasVerdict(v, verdict) }
	if v.Unfinished {
		all = append(all, "The comparison ended before all its runs were made.")
	}
	if has(compare.TooFew) {
		n := min(v.Before.Runs, v.After.Runs)
		all = append(all, fmt.Sprintf("%s%s: no verdict possible, at least %d are needed.", human.Count(n, unit, unit+"s"), strings.TrimPrefix(units, unit+"s"), v.Needed))
		return all
	}
	if len(v.Looks) > 0 {
		all = append(all, looked(v.Looks))
	}
	if has(compare.Equivalent) {
		all = append(all, equivalence(v))
	}
	for i := range v.Subjects {
		for k := range v.Subjects[i].Rows {
			if r := &v.Subjects[i].Rows[k]; r.Verdict == compare.Undecided && v.Subjects[i].Host == "" {
				all = append(all, undecided(&v.Subjects[i], r, v, units))
			}
		}
	}
	all = append(all, withheld(v)...)
	if has(compare.NoRatio) {
		all = append(all, "-: a metric that can be 0 has no ratio to judge.")
	}
	if v.Sequence != nil {
		all = append(all, sequence(v))
	}
	return all
}

// equivalence says what the verdict means.
func equivalence(v *compare.Verdicts) string {
	return fmt.Sprintf("Equivalent: the whole interval lies within ±%g%%.", v.MinEffect)
}

// hasVerdict reports whether a judged metric has this verdict.
func hasVerdict(v *compare.Verdicts, verdict compare.Verdict) bool {
	return slices.ContainsFunc(v.Judged(), func(r *compare.Row) bool { return r.Verdict == verdict })
}

// withheld says which metrics have no verdict of their own, and why: they drift, or are this machine's.
func withheld(v *compare.Verdicts) (all []string) {
	for i := range v.Subjects {
		s := &v.Subjects[i]
		for k := range s.Rows {
			if r := &s.Rows[k]; r.Verdict == compare.Withheld && r.Withheld != "" && s.Host == "" {
				all = append(all, fmt.Sprintf("%s %s: no verdict, because %s.", SubjectLabel(s.Op, s.Statement, s.Warmup, ""), r.Metric, r.Withheld))
			}
		}
	}
	return all
}

// sequence says which side was made first.
func sequence(v *compare.Verdicts) string {
	first, second := v.Before.Name, v.After.Name
	if v.Sequence.First == "after" {
		first, second = second, first
	}
	apart := time.Duration(v.Sequence.DistanceS * float64(time.Second))
	if days := apart.Hours() / 24; days > 1 {
		return fmt.Sprintf("%s was made first, %.0f days before %s.", first, days, second)
	}
	return fmt.Sprintf("%s was made first, %s before %s, middle to middle, so anything that changed in between looks like a difference. "+
		"warp ab runs both in turns.", first, human.Brief(apart), second)
}

// looked says when a comparison that may end early was judged.
func looked(looks []compare.Look) string {
	var after []string
	for _, l := range looks {
		if !l.Skipped {
			after = append(after, fmt.Sprint(l.Pairs))
		}
	}
	return fmt.Sprintf("Judged after %s pairs, at levels that keep false alarms of all looks together within 5%%.", strings.Join(after, " and "))
}

func undecided(s *compare.Subject, r *compare.Row, v *compare.Verdicts, units string) string {
	text := fmt.Sprintf("%s %s: undecided.", SubjectLabel(s.Op, s.Statement, s.Warmup, ""), r.Metric)
	n := fmt.Sprint(v.Before.Runs)
	if v.After.Runs != v.Before.Runs {
		n += fmt.Sprintf(" and %d", v.After.Runs)
	}
	if r.Detectable != nil && *r.Detectable < 1000 { // more says nothing
		text += fmt.Sprintf(" %s %s show changes from %s%% on in 4 of 5 comparisons.", n, units, twoDigits(*r.Detectable))
	}
	if r.Target != nil && r.Needed > 0 {
		text += fmt.Sprintf(" A new comparison needs %d %s to show %s%%.", r.Needed, units, twoDigits(*r.Target))
	}
	return text
}

// twoDigits shows a number with two significant digits, and without an exponent.
func twoDigits(x float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64) // it was written just now
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
