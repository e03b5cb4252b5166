package comparison

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/printer"
)

const separator = "-------------------"

// Text renders the comparison of two runs for people.
func Text(w io.Writer, c compare.Changes, o printer.Options) error {
	p := newPrinter(o)
	p.differences(c.Before.Workload, c.After.Workload, c.Parameters)
	for i := range c.Operations {
		p.change(&c.Operations[i])
	}
	for _, s := range Only(&c, "log") {
		p.Line("%s\n%s", separator, human.UpperFirst(s))
	}
	p.changes(c.Operations)
	p.Warnings("Before, warning:", c.Before.Warnings)
	p.Warnings("After, warning:", c.After.Warnings)
	return p.To(w)
}

// Only says which operations only one of two runs has, in its log or run.
func Only(c *compare.Changes, where string) (all []string) {
	for _, side := range []struct {
		name string
		ops  []string
	}{{"before", c.OnlyBefore}, {"after", c.OnlyAfter}} {
		if len(side.ops) > 0 {
			all = append(all, fmt.Sprintf("only in the %s %s: %s", where, side.name, strings.Join(side.ops, ", ")))
		}
	}
	return all
}

func (p *textPrinter) change(c *compare.OpChange) {
	p.Line("%s", separator)
	report.PrintStatement(&p.Printer, c.Part(), c.StatementText)
	p.Line("Operation: %s", p.Bold(c.Op))
	whole := func(x float64) string { return fmt.Sprintf("%.0f", x) }
	p.differs("Operations", c.Requests, whole)
	p.differs("Duration", c.RanS, human.Seconds)
	p.differs("Concurrency", c.Concurrency, whole)
	p.differs("Bytes per operation", c.RequestBytes, whole)
	p.rate("Average", &compare.RateChange{BytesPerS: c.BytesPerS, ObjectsPerS: c.ObjectsPerS}, c.HasBytes)
	if s := c.Duration; s != nil {
		p.Line("* Requests: %s", durations(s, msChange))
		p.values(s)
	}
	if s := c.Averaged; s != nil {
		known := func(mark string, c *compare.Change) string {
			if c == nil {
				return "unknown"
			}
			return mark + msChange(*c)
		}
		p.Line("* Requests: Avg: %s, 50%%: %s, 90%%: %s, 99%%: %s, Fastest: %s, Slowest: %s (≈: averages of percentiles)", msChange(s.Mean),
			known("≈", s.P50), known("≈", s.P90), known("≈", s.P99), known("", s.Min), known("", s.Max))
	}
	if s := c.Response; s != nil {
		p.Line("* Response time: %s", durations(s, msChange))
		p.values(s)
	}
	if s := c.TTFB; s != nil {
		p.Line("* First Byte: Average: %s, Median: %s, Best: %s, Worst: %s",
			msChange(s.Mean), msChange(s.P50), msChange(s.Min), msChange(s.Max))
		p.values(s)
	}
	p.rate("Fastest", c.Fastest, c.HasBytes)
	p.rate("50% Median", c.Median, c.HasBytes)
	p.rate("Slowest", c.Slowest, c.HasBytes)
	p.errorChanges(c)
}

func durations(s *compare.StatsChange, show func(compare.Change) string) string {
	return fmt.Sprintf("Avg: %s, 50%%: %s, 90%%: %s, 99%%: %s, 99.9%%: %s, Fastest: %s, Slowest: %s",
		show(s.Mean), show(s.P50), show(s.P90), show(s.P99), show(s.P999), show(s.Min), show(s.Max))
}

// values adds the absolute values to the changes.
func (p *textPrinter) values(s *compare.StatsChange) {
	if !p.Verbose {
		return
	}
	for _, side := range []struct {
		name string
		of   func(compare.Change) float64
	}{
		{"before", func(c compare.Change) float64 { return c.Before }},
		{"after", func(c compare.Change) float64 { return c.After }},
	} {
		ms := func(c compare.Change) string { return human.Millis(side.of(c)) }
		p.Line("        - %s: %s, StdDev: %s", side.name, durations(s, ms), ms(s.StdDev))
	}
}

// differs shows a change only if the rendered values differ.
func (p *textPrinter) differs(name string, c compare.Change, format func(float64) string) {
	if b, a := format(c.Before), format(c.After); b != a {
		p.Line("%s: %s -> %s", name, b, a)
	}
}

func (p *textPrinter) rate(name string, c *compare.RateChange, hasBytes bool) {
	if c == nil {
		return
	}
	s := fmt.Sprintf("%s (%+.1f) obj/s", percent(c.ObjectsPerS, 2), c.ObjectsPerS.Diff)
	if hasBytes {
		s = fmt.Sprintf("%s (%s) throughput, %s", percent(c.BytesPerS, 2), rateDiff(c.BytesPerS.Diff), s)
	}
	p.Line("* %s: %s", name, s)
}

// rateDiff is in MiB/s, unless that would round to 0.
func rateDiff(d float64) string {
	if d == 0 || d >= human.MiB/10 || d <= -human.MiB/10 {
		return fmt.Sprintf("%+.1f MiB/s", d/human.MiB)
	}
	return fmt.Sprintf("%+.1f KiB/s", d/1024)
}

// percent is "new" if the value before was 0.
func percent(c compare.Change, decimals int) string {
	if c.Percent == nil {
		return "new"
	}
	return fmt.Sprintf("%+.*f%%", decimals, *c.Percent)
}

func msChange(c compare.Change) string {
	sign := "+"
	if c.Diff < 0 {
		sign = "" // it has one
	}
	return fmt.Sprintf("%s%s (%s)", sign, human.Millis(c.Diff), percent(c, 0))
}

func (p *textPrinter) errorChanges(c *compare.OpChange) {
	if c.Errors.Before == 0 && c.Errors.After == 0 {
		return
	}
	share := func(n, all float64) float64 { return 100 * exact.Ratio(n, all) }
	p.Line("* Errors: %.0f -> %.0f (%.2f%% -> %.2f%% of requests)", c.Errors.Before, c.Errors.After,
		share(c.Errors.Before, c.Requests.Before), share(c.Errors.After, c.Requests.After))
	for _, code := range slices.Sorted(maps.Keys(c.ErrorsByCode)) {
		p.Line("  - %s: %.0f -> %.0f", code, c.ErrorsByCode[code].Before, c.ErrorsByCode[code].After)
	}
}

// TwoRuns is the warning about comparisons of single runs.
const TwoRuns = "Two runs prove nothing, because runs of the same benchmark differ as well. For a verdict, compare several runs of each " +
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
		t.Add(c.Name().String(), "before", "after", "change")
		for _, m := range c.Metrics {
			percent := percent(m.Change, 1)
			if m.Change.Before == m.Change.After {
				percent = "0.0%"
			}
			before, after := Values(m.Unit, m.Change.Before, m.Change.After)
			t.Add("  "+m.Metric, before, after, percent)
		}
	}
	p.Table(t, nil)
	p.Line("")
	p.Sentences(TwoRuns)
}
