package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"warp/internal/columns"
	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/monitor"
	"warp/pkg/report"
	"warp/pkg/report/figures"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// tableOf returns a table of columns, the first of which has the headings of the rows.
func tableOf(caption string, all []columns.Column) *report.Table {
	t := &report.Table{Caption: caption, Rows: make([][]string, len(all[0].Cells))}
	for _, c := range all {
		t.Head = append(t.Head, c.Title)
		for i, cell := range c.Cells {
			if cell == figures.None {
				cell = printer.None
			}
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	return t
}

// partFigures returns the figures of hosts, clients and runs.
func partFigures() []figures.Figure {
	return append([]figures.Figure{figures.Requests, figures.Errors, figures.Share, figures.Bytes, figures.Objects}, latencyFigures()...)
}

func latencyFigures() []figures.Figure {
	return []figures.Figure{figures.Mean, figures.P50, figures.P90, figures.P99, figures.P999, figures.Max}
}

// rowOf returns the figures of an operation. It counts the requests in the window.
func rowOf(op *results.Operation) figures.Row {
	r := figures.Of(op)
	r.Requests = op.Inside + op.Errors
	return r
}

// operations returns the table of a group, and one with the figures that readers rarely need.
func (p *Page) operations(g *group) (main, more *report.Table) {
	all := figures.Row{Name: "all", Errors: g.Errors, Share: 1, BytesPerS: g.BytesPerS, ObjectsPerS: g.ObjectsPerS, HasBytes: g.hasBytes(), Untimed: g.WindowS <= 0,
		Latency: g.Duration, Response: g.Response}
	var rows []figures.Row
	for _, op := range g.ops {
		rows = append(rows, rowOf(op))
		all.Requests += op.Inside + op.Errors
	}
	if len(rows) > 1 {
		rows = append(rows, all)
	}
	unit := figures.Unit(rows)
	main = tableOf("Operations in the measured window", figures.Columns("operation", rows, unit, figures.Requests, figures.Errors, figures.Share,
		figures.Bytes, figures.Objects, figures.P50, figures.P99, figures.Max, figures.ResponseP50, figures.ResponseP99, figures.ResponseMax))
	more = tableOf("Mean, other percentiles and time to first byte", figures.Columns("operation", rows, unit,
		figures.Mean, figures.P90, figures.P999, figures.TTFBP50, figures.TTFBP99))
	if more.Closed = true; len(more.Head) == 1 {
		more = nil
	}
	return main, more
}

// partTable returns a table of the hosts or clients of an operation.
func partTable(op *results.Operation, kind string, parts []results.Part, closed bool) *report.Table {
	var rows []figures.Row
	for i := range parts {
		h := &parts[i]
		rows = append(rows, figures.Row{Name: cmp.Or(human.Host(h.Name), "(unknown)"), Requests: h.Requests, Errors: h.Errors,
			Share: exact.Ratio(float64(h.Requests), float64(op.Inside+op.Errors)), BytesPerS: h.BytesPerS, ObjectsPerS: h.ObjectsPerS, HasBytes: op.HasBytes(), Latency: h.Duration})
	}
	slices.SortFunc(rows, func(a, b figures.Row) int { return natural(a.Name, b.Name) })
	t := tableOf(op.Op+" by "+kind, figures.Columns(kind, rows, figures.Unit(rows), partFigures()...))
	t.Closed = closed
	return t
}

// byClient adds a table if there are several clients.
func (p *Page) byClient(g *group) {
	s := section{ID: "clients", Title: "By client"}
	for _, op := range g.ops {
		if len(op.ByClient) > 1 {
			s.table(partTable(op, "client", op.ByClient, len(op.ByClient) > 20))
		}
	}
	p.section(s)
}

// soFar shows the figures of hosts and clients while the run lasts.
func (p *Page) soFar(kind string, parts []monitor.Part, elapsed time.Duration) {
	if len(parts) < 2 || elapsed <= 0 {
		return
	}
	var rows []figures.Row
	for i := range parts {
		h := &parts[i]
		r := figures.Row{Name: human.Host(h.Name), Requests: h.Requests, Errors: h.Errors, HasBytes: h.Bytes > 0,
			BytesPerS: float64(h.Bytes) / elapsed.Seconds(), ObjectsPerS: float64(h.Objects) / elapsed.Seconds()}
		if h.Time.N > 0 {
			r.Latency = &results.Stats{Mean: h.Time.Mean() / 1e6}
		}
		rows = append(rows, r)
	}
	t := tableOf("All operations by "+kind+" so far", figures.Columns(kind, rows, figures.Unit(rows), figures.Requests, figures.Errors, figures.Bytes, figures.Objects, figures.Mean))
	p.tables(kind+"s-so-far", "By "+kind+" so far", t)
}

// bySize adds a table if sizes vary.
func (p *Page) bySize(g *group) {
	s := section{ID: "sizes", Title: "By size of the object"}
	for _, op := range g.ops {
		if len(op.SizeClasses) == 0 || !op.HasBytes() {
			continue
		}
		var rows []figures.Row
		speed := columns.Column{Title: "median speed"}
		for i := range op.SizeClasses {
			c := &op.SizeClasses[i]
			name := c.From + " to " + c.To
			if c.To == "" {
				name = c.From + " and more"
			}
			rows = append(rows, figures.Row{Name: name, Requests: c.Requests, Latency: c.Duration})
			cell := figures.None
			if c.Speed != nil {
				cell = human.Rate(c.Speed.P50)
			}
			speed.Cells = append(speed.Cells, cell)
		}
		list := append([]figures.Figure{figures.Requests}, latencyFigures()...)
		t := tableOf(op.Op+" by size", slices.Insert(figures.Columns("size", rows, figures.Unit(rows), list...), 2, speed))
		s.table(t)
	}
	p.section(s)
}

// errors lists the codes and the first error of each.
func (p *Page) errors(g *group) {
	s := section{ID: "errors", Title: "Errors"}
	s.chart(p.errorsOverTime(g))
	t := &report.Table{Caption: "Errors by code, with the first of each", Head: []string{"operation", "code", "number", "first at", "host", "first message"}, Text: true}
	for _, op := range g.ops {
		for _, code := range report.MostFrequent(op.ErrorsByCode) {
			row := []string{op.Op, code, human.Grouped(op.ErrorsByCode[code]), printer.None, printer.None, printer.None}
			for _, e := range op.FirstErrors {
				if e.Code != code {
					continue
				}
				if !e.Time.IsZero() {
					row[3] = e.Time.In(p.loc).Format("15:04:05.000 MST")
				}
				row[4], row[5] = human.Host(e.Endpoint), columns.Cut(strings.TrimPrefix(e.Error, e.Code+": "), 301)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	s.table(t)
	p.section(s)
}

// outside shows requests outside the window, which could hide something slow.
func (p *Page) outside(g *group) {
	t := &report.Table{Caption: "Requests that started before or after the window, or had no answer at its end",
		Head: []string{"operation", "before", "errors", "in flight at its start", "longest of them", "after", "errors", "without an answer"}}
	any := false
	for _, op := range g.ops {
		if op.WindowBasis == results.Whole {
			continue
		}
		row := []string{op.Op, human.Grouped(op.WarmUp.Requests), human.Grouped(op.WarmUp.Errors), human.Grouped(op.InFlight.Requests), human.Millis(op.InFlight.LongestMS),
			human.Grouped(op.Late.Requests), human.Grouped(op.Late.Errors), "0"}
		if op.Unanswered != nil {
			row[7] = human.Grouped(op.Unanswered.Requests)
		}
		any = any || op.WarmUp.Requests+op.Late.Requests > 0 || op.Unanswered != nil
		t.Rows = append(t.Rows, row)
	}
	if any {
		p.tables("outside", "Outside of the window", t)
	}
}
