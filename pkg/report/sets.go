package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/results"
)

// defaultWidth is used if the width of the output is unknown.
const defaultWidth = 100

// TwoRuns is the warning about comparisons of single runs.
const TwoRuns = "Two runs prove nothing: runs of the same thing differ, too. For a verdict, compare several runs of each " +
	"(warp cmp 'before-*.csv.zst' 'after-*.csv.zst'), or have warp ab make them in turns."

// changes is the table of the changes between two single runs.
func (p *printer) changes(ops []compare.OpChange) {
	if len(ops) == 0 {
		return
	}
	p.line("%s", comparisonSeparator)
	t := &table{right: []bool{false, true, true, true}}
	for i := range ops {
		c := &ops[i]
		if i > 0 {
			t.add("", "", "", "")
		}
		t.add(SubjectLabel(c.Op, c.Statement, c.Warmup, ""), "before", "after", "change")
		for _, m := range c.Metrics {
			percent := percent(m.Change, 1)
			if m.Change.Before == m.Change.After {
				percent = "0.0%"
			}
			largest := max(m.Change.Before, m.Change.After)
			t.add("  "+m.Metric, MetricText(m.Unit, m.Change.Before, largest), MetricText(m.Unit, m.Change.After, largest), percent)
		}
	}
	for _, l := range t.lines(func(_, _ int, cell string) string { return cell }) {
		p.line("%s", l)
	}
	p.line("")
	p.line("%s", wrap(TwoRuns, 0, p.width(), ""))
}

// width returns the number of columns for a line.
func (p *printer) width() int {
	if p.o.Width <= 0 {
		return defaultWidth
	}
	return p.o.Width
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

// ComparisonsJSON renders comparisons of sets of runs as one JSON document. A single one is a document by itself.
func ComparisonsJSON(w io.Writer, c *compare.Comparisons) error {
	if len(c.Comparisons) == 1 {
		return writeJSON(w, c.Comparisons[0])
	}
	return writeJSON(w, c)
}

// ComparisonsText renders comparisons of sets of runs for people.
func ComparisonsText(w io.Writer, c *compare.Comparisons, o TextOptions) error {
	p := &printer{o: o}
	if len(c.Comparisons) == 1 {
		p.twoSets(c.Comparisons[0])
	} else {
		p.severalSets(c)
	}
	_, err := w.Write(p.Bytes())
	return err
}

// twoSets shows a single comparison.
func (p *printer) twoSets(v *compare.Verdicts) {
	if v.Noise != nil {
		p.line("%s", p.bold("The first side with itself"))
		p.verdicts(v.Noise)
		p.line("")
		p.line("%s", p.bold("Both sides"))
	}
	p.verdicts(v)
	p.assertions(v.Assertions)
}

func (p *printer) verdicts(v *compare.Verdicts) {
	p.sides(v)
	if len(v.Parameters) > 0 {
		p.line("Parameters that differ:")
		for _, x := range v.Parameters {
			p.line(" * %s: %s -> %s", x.Name, compare.OrNone(x.Before), compare.OrNone(x.After))
		}
	}
	for i := range v.Subjects {
		p.line("")
		p.subject(&v.Subjects[i], v)
	}
	p.line("")
	for _, s := range Remarks(v) {
		p.line("%s", wrap(s, 0, p.width(), ""))
	}
	if len(v.Missing) > 0 {
		p.line("%s", wrap("Not in all runs: "+strings.Join(v.Missing, ", ")+".", 0, p.width(), ""))
	}
	for _, s := range v.Withheld {
		p.line("%s %s.", p.paint("No verdict:", color.FgYellow), wrap(s, len("No verdict: "), p.width(), "  "))
	}
	for _, s := range v.Warnings {
		p.line("%s %s", p.paint("Warning:", color.FgYellow), s+".")
	}
	before, after := sideNames(v)
	p.warnings(before, few(v.Before.Warnings))
	p.warnings(after, few(v.After.Warnings))
}

// few keeps the remarks of many runs from burying the table.
func few(warnings []string) []string {
	const shown = 5
	if len(warnings) <= shown {
		return warnings
	}
	return append(slices.Clone(warnings[:shown]), fmt.Sprintf("and %d more, which --json has", len(warnings)-shown))
}

func (p *printer) sides(v *compare.Verdicts) {
	if v.Paired {
		p.line("%s: %s -> %s", human.Count(v.Before.Runs, "pair", "pairs"), v.Before.Name, v.After.Name)
		return
	}
	p.line("%s: %s -> %s: %s", v.Before.Name, human.Count(v.Before.Runs, "run", "runs"), v.After.Name, human.Count(v.After.Runs, "run", "runs"))
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
func (p *printer) subject(s *compare.Subject, v *compare.Verdicts) {
	t := &table{right: []bool{false, true, true, true, true, true, true, false}}
	before, after := ColumnNames(v)
	t.add(SubjectLabel(s.Op, s.Statement, s.Warmup, s.Host), before, after, "change", "interval", "p", "n", "verdict")
	for i := range s.Rows {
		t.add(cells(&s.Rows[i])...)
	}
	p.fit(t,
		func(r []string) { r[columnN] = "" },
		func(r []string) {
			r[columnBefore], r[columnAfter] = withoutSpread(r[columnBefore]), withoutSpread(r[columnAfter])
		},
		func(r []string) { r[columnP] = "" },
		func(r []string) { r[columnBefore], r[columnAfter] = "", "" })
	lines := t.lines(func(row, column int, cell string) string {
		switch {
		case row == 0 && column == 0:
			return p.bold(cell)
		case row > 0 && column == columnVerdict:
			return p.paintVerdict(s.Rows[row-1].Verdict, cell)
		}
		return cell
	})
	for _, l := range lines {
		p.line("%s", l)
	}
}

// fit leaves out of all rows one thing after the other, until there is room for the table.
func (p *printer) fit(t *table, leave ...func(row []string)) {
	for _, out := range leave {
		if t.width() <= p.width() {
			return
		}
		for _, r := range t.rows {
			out(r)
		}
	}
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

func (p *printer) paintVerdict(v compare.Verdict, cell string) string {
	switch v {
	case compare.Better:
		return p.paint(cell, color.FgGreen)
	case compare.Worse:
		return p.paint(cell, color.FgRed)
	case compare.Withheld, compare.TooFew:
		return p.paint(cell, color.FgYellow)
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
	return append(all, "Judged by runs, with Holm's correction; intervals of what has no verdict are at 95% each.")
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
	all = append(all, drifts(v)...)
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

// drifts says which metrics have no verdict because they drift.
func drifts(v *compare.Verdicts) (all []string) {
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
	if r.Detectable != nil {
		text += fmt.Sprintf(" %s %s show changes from %.2g%% on in 4 of 5 comparisons.", n, units, *r.Detectable)
	}
	switch {
	case r.Target == nil:
	case r.Needed > 0:
		text += fmt.Sprintf(" A new comparison that is to show %.2g%% takes %d %s.", *r.Target, r.Needed, units)
	}
	return text
}
