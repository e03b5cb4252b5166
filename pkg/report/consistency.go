package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fatih/color"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/results"
)

// consistency prints what the store kept of its promises: first what it broke, and the requests that prove it.
func (p *printer) consistency(c *results.Consistency, width int) {
	if c == nil {
		return
	}
	for _, q := range c.Properties {
		for i := range q.Shown {
			p.violation(&q, &q.Shown[i])
		}
	}
	p.line("")
	for _, line := range columns.Fit(consistencyColumns(c), width, p.paintConsistency) {
		p.line("%s", strings.TrimRight(line, " "))
	}
	for _, q := range c.Properties {
		if q.Reason != "" {
			p.line(" * %s, %s: %s", p.bold(q.Property), q.Verdict, human.OneLine(q.Reason))
		}
	}
	if c.ClockErrorMS > 0 {
		p.line("Requests count as %s longer at both ends, because the clients' clocks may differ by that.",
			human.Duration(time.Duration(c.ClockErrorMS*float64(time.Millisecond))))
	}
	if c.Incomplete {
		p.line("The log of a client is missing or was cut off; what it wrote counts as unknown.")
	}
	p.line("")
}

// paintConsistency colors the verdicts.
func (p *printer) paintConsistency(_ int, title, cell string) string {
	if title != verdictTitle {
		return cell
	}
	switch strings.TrimSpace(cell) {
	case results.ConsistencyHeld:
		return p.paint(cell, color.FgGreen)
	case results.ConsistencyViolated:
		return p.paint(cell, color.FgRed, color.Bold)
	}
	return p.paint(cell, color.FgYellow)
}

const verdictTitle = "verdict"

func consistencyColumns(c *results.Consistency) []columns.Column {
	type column struct {
		title string
		drop  int
		cell  func(*results.ConsistencyProperty) string
	}
	var all []columns.Column
	for _, d := range []column{
		{"property", 0, func(p *results.ConsistencyProperty) string { return p.Property }},
		{verdictTitle, 0, func(p *results.ConsistencyProperty) string { return p.Verdict }},
		{"checks", 0, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Checks, 10) }},
		{"violations", 1, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Violations, 10) }},
		{"unknown", 2, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Unknown, 10) }},
		{"refused", 5, func(p *results.ConsistencyProperty) string { return strconv.FormatInt(p.Refused, 10) }},
		{"ops/s", 3, func(p *results.ConsistencyProperty) string { return rate(p.OperationsPerS) }},
		{"wins/s", 4, func(p *results.ConsistencyProperty) string { return contended(p, rate(p.WonPerS)) }},
		{"p50 ms", 6, func(p *results.ConsistencyProperty) string { return contended(p, fmt.Sprintf("%.1f", p.ContendedP50)) }},
		{"p99 ms", 6, func(p *results.ConsistencyProperty) string { return contended(p, fmt.Sprintf("%.1f", p.ContendedP99)) }},
	} {
		col := columns.Column{Title: d.title, Drop: d.drop}
		for i := range c.Properties {
			col.Cells = append(col.Cells, d.cell(&c.Properties[i]))
		}
		all = append(all, col)
	}
	return all
}

func rate(x float64) string { return fmt.Sprintf("%.1f", x) }

// contended returns a figure of conditional requests, "-" for properties without any.
func contended(p *results.ConsistencyProperty, figure string) string {
	if p.Won+p.Lost == 0 {
		return "-"
	}
	return figure
}

// violation prints what proves a violation: the requests in the order of time.
func (p *printer) violation(q *results.ConsistencyProperty, v *results.Violation) {
	title := human.UpperFirst(q.Verdict)
	if q.Verdict == results.ConsistencyHeld { // for example not promised, but seen
		title = "Seen"
	}
	p.line("")
	p.line("%s %s: %s", p.paint(title+",", color.FgRed), p.bold(q.Property), v.Rule)
	p.line("  key %s", human.OneLine(v.Key))
	if v.AfterMark != "" {
		p.line("  %.3f s after the mark %q", v.AfterMarkS, human.OneLine(v.AfterMark))
	}
	var begin time.Time
	for i := range v.History {
		if e := &v.History[i]; begin.IsZero() {
			begin = e.Start
			p.line("  times count from %s", begin.Format(time.RFC3339Nano))
		}
		p.line("  %s", human.OneLine(historyLine(&v.History[i], begin)))
	}
	if v.More > 0 {
		p.line("  and %s", human.Plural(v.More, "further request"))
	}
}

// historyLine describes one request: when, who, what, and what came back.
func historyLine(e *results.HistoryEvent, begin time.Time) string {
	ms := func(t time.Time) string { return fmt.Sprintf("%9.3f", t.Sub(begin).Seconds()*1000) }
	text := fmt.Sprintf("%s to %s ms  thread %-3d %-8s", ms(e.Start), ms(e.End), e.Thread, e.Op)
	add := func(format, value string) {
		if value != "" {
			text += fmt.Sprintf(format, value)
		}
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
