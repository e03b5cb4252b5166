package comparison

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/sweep"
)

// SweepComparisonText renders the comparison of two sweeps for people.
func SweepComparisonText(w io.Writer, c *sweep.Comparison, o printer.Options) error {
	p := newPrinter(o)
	p.Line("%s -> %s: %s", c.Before, c.After, human.Plural(c.Points, "point"))
	p.Line("")
	head, rows := SweepOverall(c)
	t := p.newVerdictTable(head...)
	for i, row := range rows {
		t.add(c.Overall[i].Verdict, row...)
	}
	t.print()
	if head, rows := SweepByPoint(c); len(rows) > 0 {
		p.Line("")
		p.byPoint(c, head, rows)
	}
	p.Line("")
	p.Sentences(SweepComparisonRemarks(c)...)
	for _, s := range c.Warnings {
		p.Paragraph("Warning:", s+".")
	}
	for _, s := range c.LeftOut {
		p.Paragraph("Left out:", strings.TrimSuffix(s, ".")+".")
	}
	return p.To(w)
}

// byPoint shows the changes at each point, below its name. If there is no room for all columns, it keeps the change and the verdict.
func (p *textPrinter) byPoint(c *sweep.Comparison, head []string, rows [][]string) {
	t := p.newVerdictTable(slices.Delete(slices.Clone(head), 1, 2)...)
	for i, row := range rows {
		if row[0] != "" {
			t.add("", append(row[:1:1], make([]string, len(row)-2)...)...)
		}
		t.add(c.ByPoint[i].Row.Verdict, append([]string{"  " + row[1]}, row[2:]...)...)
	}
	t.Fit(p.MaxWidth(), printer.Without(columnBefore, columnAfter))
	t.print()
}

// SweepOverall returns the changes over all points.
func SweepOverall(c *sweep.Comparison) (head []string, rows [][]string) {
	head = []string{"all points", "change", "interval", "p", "points", "verdict"}
	for _, x := range c.Overall {
		between := ""
		if x.Low != nil || x.High != nil {
			between = interval(x.Low, x.High)
		}
		change, p := printer.None, printer.None
		if x.Change != nil {
			change = signed(x.Change, false)
		}
		if x.Points > 0 {
			p = probability(x.P)
		}
		rows = append(rows, []string{x.Metric, change, between, p, strconv.Itoa(x.Points), string(x.Verdict)})
	}
	return head, rows
}

// SweepByPoint returns the changes at each point.
func SweepByPoint(c *sweep.Comparison) (head []string, rows [][]string) {
	head = []string{"point", "metric", "before", "after", "change", "verdict"}
	last := ""
	for i := range c.ByPoint {
		x, name := &c.ByPoint[i].Row, c.ByPoint[i].Point
		if name == last {
			name = ""
		}
		last = c.ByPoint[i].Point
		before, after := Medians(x)
		rows = append(rows, []string{name, x.Metric, before, after, signed(x.Change, x.Before.Median == x.After.Median), verdictCell(x.Verdict)})
	}
	return head, rows
}

// SweepComparisonRemarks returns the sentences below the tables.
func SweepComparisonRemarks(c *sweep.Comparison) []string {
	var all []string
	if c.First != "" {
		all = append(all, fmt.Sprintf("%s was made before the other one, so anything that changed in between looks like a difference.", c.First))
	}
	return append(all, fmt.Sprintf("The verdicts over all points come from ranks within each point (Hodges and Lehmann's aligned ranks), with Holm's correction; "+
		"equivalent: the whole interval lies within ±%g%%. Verdicts on single points take at least four runs a side, and are corrected for their number.", c.MinEffect))
}
