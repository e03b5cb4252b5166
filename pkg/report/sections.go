package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// A Section is a part of a report that is a table, the same in the text of --verbose and on a page.
type Section struct {
	ID, Title string
	Table
}

// A Table has headings of rows in its first column.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Closed  bool // the reader of a page has to open it
	Text    bool // its cells are text, not numbers
}

// Sections returns the sections of a group that have something to show. To add one, write a function
// that returns it, and name it here.
func Sections(r *results.Report, group int, loc *time.Location) (all []Section) {
	g := &r.Groups[group]
	ops := r.OperationsOf(group)
	for _, section := range []func(*results.GroupReport, []*results.Operation, *time.Location) Section{
		slowest,
	} {
		if s := section(g, ops, loc); len(s.Rows) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// sections prints the sections of a group.
func (p *textPrinter) sections(r *results.Report, group int) {
	if !p.Verbose {
		return
	}
	for _, s := range Sections(r, group, cmp.Or(p.Location, time.UTC)) {
		p.Line("\n%s:", s.Title)
		numbers := len(s.Head)
		if s.Text {
			numbers = 0
		}
		t := printer.NewTable(s.Head, s.Rows, 1, numbers)
		for _, line := range t.Lines(nil) {
			p.Line("  %s", line)
		}
	}
}

// maxSlowest limits the table of the slowest requests of all operations.
const maxSlowest = 20

// slowest lists the slowest requests of all operations.
func slowest(g *results.GroupReport, ops []*results.Operation, loc *time.Location) Section {
	type request struct {
		op string
		*results.SlowRequest
	}
	var all []request
	for _, op := range ops {
		for i := range op.Slowest {
			all = append(all, request{human.Visible(op.Op), &op.Slowest[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b request) int { return cmp.Compare(b.DurationMS, a.DurationMS) })
	s := Section{"slowest", "Slowest requests", Table{Caption: "The slowest requests that started in the window", Text: true,
		Head: []string{"took", "operation", "after", "at", "object", "host", "size", "status"}}}
	if g.Clients > 1 {
		s.Head = append(s.Head, "client")
	}
	for _, r := range all[:min(len(all), maxSlowest)] {
		size := printer.None
		if r.Bytes > 0 {
			size = human.Bytes(float64(r.Bytes))
		}
		after := math.Round(10*math.Max(0, r.Start.Sub(g.WindowStart).Seconds())) / 10
		row := []string{human.Millis(r.DurationMS), r.op, human.Seconds(after), r.Start.In(loc).Format("15:04:05.000"),
			human.Visible(columns.Cut(r.Key, 201)), human.Host(r.Host), size, statusOf(r.SlowRequest)}
		if g.Clients > 1 {
			row = append(row, human.Visible(r.Client))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

func statusOf(r *results.SlowRequest) string {
	var parts []string
	if r.Status > 0 {
		parts = append(parts, fmt.Sprint(r.Status))
	}
	if r.Error != "" {
		parts = append(parts, human.Visible(r.Error))
	}
	return cmp.Or(strings.Join(parts, " "), printer.None)
}
