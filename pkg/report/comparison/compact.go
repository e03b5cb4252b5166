package comparison

import (
	"fmt"
	"io"
	"slices"

	"github.com/fatih/color"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report/printer"
)

// Compact renders the comparison of two runs for a terminal, with one line of changes for
// each operation.
func Compact(w io.Writer, c compare.Changes, o printer.Options) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	p := newPrinter(o)
	if len(c.Operations) > 0 {
		p.Columns(changeColumns(c.Operations), func(row int, title, cell string) string {
			if e := c.Operations[row].Errors; title == "errors" && e.After > e.Before {
				return p.Paint(cell, color.FgRed)
			}
			return cell
		})
	}
	p.Paragraph("", workloadsOf(c.Before.Workload, c.After.Workload))
	workload, other := divide(c.Parameters)
	for _, x := range slices.Concat(workload, other) {
		kind := "parameter "
		if x.Workload {
			kind = "workload "
		}
		p.Paragraph("", kind+x.Name+": "+human.OneLine(compare.OrNone(x.Before))+" -> "+human.OneLine(compare.OrNone(x.After)))
	}
	p.Paragraph("", Only(&c, "log")...)
	p.Paragraph("Before, warning:", c.Before.Warnings...)
	p.Paragraph("After, warning:", c.After.Warnings...)
	if len(c.Operations) > 0 {
		p.Paragraph("", TwoRuns)
	}
	return p.To(w)
}

// changeColumns returns the errors and the throughput of both sides, and the changes of the other
// figures.
func changeColumns(ops []compare.OpChange) []columns.Column {
	fastest := 0.0
	for i := range ops {
		fastest = max(fastest, ops[i].BytesPerS.Before, ops[i].BytesPerS.After)
	}
	unit := human.SegmentUnit(fastest)
	times := func(of func(*compare.StatsChange) compare.Change) func(*compare.OpChange) string {
		return func(c *compare.OpChange) string {
			if c.Duration == nil {
				return "-"
			}
			return percent(of(c.Duration), 1)
		}
	}
	both := func(of func(*compare.StatsChange) compare.Change) func(*compare.OpChange) string {
		return func(c *compare.OpChange) string {
			if c.Duration == nil {
				return "-"
			}
			x := of(c.Duration)
			return human.Millis(x.Before) + " -> " + human.Millis(x.After)
		}
	}
	p50 := func(s *compare.StatsChange) compare.Change { return s.P50 }
	p99 := func(s *compare.StatsChange) compare.Change { return s.P99 }
	column := func(title string, drop int, cell func(*compare.OpChange) string) columns.Column {
		return columns.New(title, drop, ops, cell)
	}
	all := []columns.Column{
		column("", 0, func(c *compare.OpChange) string { return c.Name().String() }),
		column("errors", 0, func(c *compare.OpChange) string {
			if c.Errors.Before == 0 && c.Errors.After == 0 {
				return "0"
			}
			return human.Grouped(uint64(c.Errors.Before)) + " -> " + human.Grouped(uint64(c.Errors.After))
		}),
		column(unit.Name(), 3, func(c *compare.OpChange) string {
			if !c.HasBytes {
				return "-"
			}
			return unit.Digits(c.BytesPerS.Before) + " -> " + unit.Digits(c.BytesPerS.After)
		}),
		column("obj/s", 5, func(c *compare.OpChange) string {
			return human.PerSecond(c.ObjectsPerS.Before) + " -> " + human.PerSecond(c.ObjectsPerS.After)
		}),
		column("throughput", 0, func(c *compare.OpChange) string {
			if c.HasBytes {
				return percent(c.BytesPerS, 1)
			}
			return percent(c.ObjectsPerS, 1)
		}),
		column("p50", 2, times(p50)),
		column("p90", 4, times(func(s *compare.StatsChange) compare.Change { return s.P90 })),
		column("p99", 0, times(p99)),
		column("p99.9", 4, times(func(s *compare.StatsChange) compare.Change { return s.P999 })),
		column("max", 1, times(func(s *compare.StatsChange) compare.Change { return s.Max })),
		column("p50", 6, both(p50)),
		column("p99", 6, both(p99)),
		column("requests", 7, func(c *compare.OpChange) string {
			return fmt.Sprintf("%s -> %s", human.Grouped(uint64(c.Requests.Before)), human.Grouped(uint64(c.Requests.After)))
		}),
	}
	return slices.DeleteFunc(all, func(c columns.Column) bool { return c.Title == unit.Name() && fastest == 0 })
}
