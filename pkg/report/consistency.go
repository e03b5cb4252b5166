package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fatih/color"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// consistency prints what the store kept of its promises: first what it broke, and the requests that prove it. If the width of
// the terminal is unknown, the lines of text are as long as they are, and the table has 120 columns.
func (p *textPrinter) consistency(c *results.Consistency) {
	if c == nil {
		return
	}
	for _, q := range c.Properties {
		for i := range q.Shown {
			p.violation(&q, &q.Shown[i])
		}
	}
	p.Line("")
	for _, line := range columns.Fit(ConsistencyColumns(c), cmp.Or(p.Width, 120), p.paintConsistency) {
		p.Line("%s", strings.TrimRight(line, " "))
	}
	for _, q := range c.Properties {
		if q.Reason != "" {
			before := fmt.Sprintf(" * %s, %s: ", q.Property, q.Verdict)
			p.Line(" * %s, %s: %s", p.Bold(q.Property), q.Verdict, human.Wrap(human.OneLine(q.Reason), len(before), p.room(), "   "))
		}
	}
	for _, line := range ConsistencyNotes(c) {
		p.Line("%s", printer.Fold(line, p.Width, "  "))
	}
	p.Line("")
}

// room returns the columns that lines of text may have.
func (p *textPrinter) room() int { return cmp.Or(p.Width, math.MaxInt) }

// ConsistencyNotes says what limits the verdicts.
func ConsistencyNotes(c *results.Consistency) (all []string) {
	if c.ClockErrorMS > 0 {
		all = append(all, fmt.Sprintf("Requests count as %s longer at both ends, because the clients' clocks may differ by that much.",
			human.Duration(time.Duration(c.ClockErrorMS*float64(time.Millisecond)))))
	}
	if c.Incomplete {
		all = append(all, "The log of a client is missing or was cut off; what it wrote counts as unknown.")
	}
	return all
}

// paintConsistency colors the verdicts.
func (p *textPrinter) paintConsistency(_ int, title, cell string) string {
	if title != verdictTitle {
		return cell
	}
	switch strings.TrimSpace(cell) {
	case results.ConsistencyHeld:
		return p.Paint(cell, color.FgGreen)
	case results.ConsistencyViolated:
		return p.Paint(cell, color.FgRed, color.Bold)
	}
	return p.Paint(cell, color.FgYellow)
}

const verdictTitle = "verdict"

// ConsistencyColumns returns a table with the verdict on each property.
func ConsistencyColumns(c *results.Consistency) []columns.Column {
	column := func(title string, drop int, cell func(*results.ConsistencyProperty) string) columns.Column {
		return columns.New(title, drop, c.Properties, cell)
	}
	return []columns.Column{
		column("property", 0, func(p *results.ConsistencyProperty) string { return p.Property }),
		column(verdictTitle, 0, func(p *results.ConsistencyProperty) string { return p.Verdict }),
		column("checks", 0, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Checks, 10) }),
		column("violations", 1, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Violations, 10) }),
		column("unknown", 2, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Unknown, 10) }),
		column("refused", 5, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Refused, 10) }),
		column("ops/s", 3, func(p *results.ConsistencyProperty) string { return rate(p.OperationsPerS) }),
		column("wins/s", 4, func(p *results.ConsistencyProperty) string { return contended(p, rate(p.WonPerS)) }),
		column("p50 ms", 6, func(p *results.ConsistencyProperty) string { return contended(p, fmt.Sprintf("%.1f", p.ContendedP50)) }),
		column("p99 ms", 6, func(p *results.ConsistencyProperty) string { return contended(p, fmt.Sprintf("%.1f", p.ContendedP99)) }),
	}
}

func rate(x float64) string { return fmt.Sprintf("%.1f", x) }

// contended returns a figure of conditional requests, "-" for properties without any.
func contended(p *results.ConsistencyProperty, figure string) string {
	if p.Won+p.Lost == 0 {
		return "-"
	}
	return figure
}

// violation prints what proves a violation.
func (p *textPrinter) violation(q *results.ConsistencyProperty, v *results.Violation) {
	before := fmt.Sprintf("%s, %s: ", q.Verdict, q.Property)
	p.Line("")
	p.Line("%s %s: %s", p.Paint(human.UpperFirst(q.Verdict)+",", color.FgRed), p.Bold(q.Property), human.Wrap(v.Rule, len(before), p.room(), "  "))
	for _, line := range ViolationLines(v) {
		p.Line("%s", printer.Fold("  "+line, p.Width, historyIndent))
	}
}

// historyIndent begins the further lines of a request.
const historyIndent = "        "

// ViolationLines returns what proves a violation: the requests in the order of time.
func ViolationLines(v *results.Violation) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, human.OneLine(fmt.Sprintf(format, args...))) }
	add("key %s", v.Key)
	if v.AfterMark != "" {
		add("%.3f s after the mark %q", v.AfterMarkS, human.OneLine(v.AfterMark))
	}
	for i := range v.History {
		begin := v.History[0].Start
		if i == 0 {
			add("times count from %s", begin.Format(time.RFC3339Nano))
		}
		add("%s", historyLine(&v.History[i], v.Key, begin))
	}
	if v.More > 0 {
		add("and %s", human.Plural(v.More, "further request"))
	}
	return lines
}

// historyLine describes one request: when, who, what, and what came back. It names the object if that is not the key of the
// violation, which is a folder for listings.
func historyLine(e *results.HistoryEvent, key string, begin time.Time) string {
	ms := func(t time.Time) string { return fmt.Sprintf("%9.3f", t.Sub(begin).Seconds()*1000) }
	text := fmt.Sprintf("%s to %s ms  thread %-3d %-8s", ms(e.Start), ms(e.End), e.Thread, e.Op)
	add := func(format, value string) {
		if value != "" {
			text += fmt.Sprintf(format, value)
		}
	}
	if e.Key != key {
		add(" %s", strings.TrimPrefix(e.Key, key))
	}
	add(" if %s", e.Condition)
	add(" sent %s", e.Sent)
	text += " -> " + e.Outcome
	if e.Status != 0 {
		text += fmt.Sprintf(" (%d)", e.Status)
	}
	add(", received %s", e.Received)
	add(", %s", e.Error)
	add("  at %s", e.Host)
	add(" by %s", cmp.Or(e.Client, "this client"))
	return text
}
