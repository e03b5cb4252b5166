package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/monitor"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// dash is a cell without a value.
const dash = "–"

func millisCell(s *results.Stats, of func(*results.Stats) float64) string {
	if s == nil {
		return dash
	}
	return atLeast(s, of(s))
}

// A column is a column of a table about operations, hosts or clients.
type column struct {
	head string
	of   func(*results.Stats) float64
}

func percentileColumns() []column {
	return []column{
		{"mean", func(s *results.Stats) float64 { return s.Mean }},
		{"p50", func(s *results.Stats) float64 { return s.P50 }},
		{"p90", func(s *results.Stats) float64 { return s.P90 }},
		{"p99", func(s *results.Stats) float64 { return s.P99 }},
		{"p99.9", func(s *results.Stats) float64 { return s.P999 }},
		{"max", func(s *results.Stats) float64 { return s.Max }},
	}
}

// operations returns the table of a group.
func (p *Page) operations(g *group) *table {
	t := &table{Caption: "Operations in the measured window", Head: []string{"operation", "requests", "errors", "share", "bytes/s", "objects/s"}}
	for _, c := range percentileColumns() {
		t.Head = append(t.Head, c.head)
	}
	ttfb, open := false, false
	for _, op := range g.ops {
		ttfb, open = ttfb || op.TTFB != nil, open || op.Response != nil
	}
	if ttfb {
		t.Head = append(t.Head, "TTFB p50", "TTFB p99")
	}
	if open {
		t.Head = append(t.Head, "response p50", "response p99", "response max")
	}
	for _, op := range g.ops {
		row := append(rowOf(human.Visible(op.Op), op.Inside+op.Errors, op.Errors, fmt.Sprintf("%.1f %%", 100*op.Share), op.BytesPerS, op.ObjectsPerS, op.HasBytes(), op.WindowS > 0), latencyCells(op)...)
		if ttfb {
			row = append(row, millisCell(op.TTFB, (percentileColumns()[1].of)), millisCell(op.TTFB, percentileColumns()[3].of))
		}
		if open {
			row = append(row, millisCell(op.Response, percentileColumns()[1].of), millisCell(op.Response, percentileColumns()[3].of), millisCell(op.Response, percentileColumns()[5].of))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(g.ops) > 1 {
		total := uint64(0)
		for _, op := range g.ops {
			total += op.Inside + op.Errors
		}
		row := rowOf("all", total, g.Errors, "", g.BytesPerS, g.ObjectsPerS, g.moves(), g.WindowS > 0)
		for _, c := range percentileColumns() {
			row = append(row, millisCell(g.Duration, c.of))
		}
		for len(row) < len(t.Head) {
			row = append(row, "")
		}
		if open {
			n := len(row)
			row[n-3], row[n-2], row[n-1] = millisCell(g.Response, percentileColumns()[1].of), millisCell(g.Response, percentileColumns()[3].of), millisCell(g.Response, percentileColumns()[5].of)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func rowOf(name string, requests, errors uint64, share string, bytes, objects float64, hasBytes, timed bool) []string {
	row := []string{name, count(requests), count(errors), share, dash, dash}
	if timed && hasBytes {
		row[4] = human.Rate(bytes)
	}
	if timed {
		row[5] = svg.Grouped(objects)
	}
	return row
}

// latencyCells returns the percentiles of an operation, with a mark if they are averages.
func latencyCells(op *results.Operation) (cells []string) {
	a := op.AveragedDuration
	if a == nil {
		for _, c := range percentileColumns() {
			cells = append(cells, millisCell(op.Duration, c.of))
		}
		return cells
	}
	known := func(mark string, ms *float64) string {
		if ms == nil {
			return dash
		}
		return mark + human.Millis(*ms)
	}
	return []string{human.Millis(a.Mean), known("≈", a.P50), known("≈", a.P90), known("≈", a.P99), dash, known("", a.Max)}
}

// partTable returns a table of the hosts or clients of an operation.
func partTable(op *results.Operation, kind string, parts []results.Part, closed bool) *table {
	t := &table{Caption: human.Visible(op.Op) + " by " + kind, Head: []string{kind, "requests", "errors", "share", "bytes/s", "objects/s"}, Closed: closed}
	for _, c := range percentileColumns() {
		t.Head = append(t.Head, c.head)
	}
	all := op.Inside + op.Errors
	for i := range parts {
		h := &parts[i]
		name := human.Visible(h.Name)
		if kind == "host" {
			name = withoutScheme(h.Name)
		}
		if name == "" {
			name = "(unknown)"
		}
		row := rowOf(name, h.Requests, h.Errors, percentOf(h.Requests, all), h.BytesPerS, h.ObjectsPerS, op.HasBytes(), true)
		for _, c := range percentileColumns() {
			row = append(row, millisCell(h.Duration, c.of))
		}
		t.Rows = append(t.Rows, row)
	}
	slices.SortFunc(t.Rows, func(a, b []string) int { return natural(a[0], b[0]) })
	return t
}

// byClient adds a table if there are several clients.
func (p *Page) byClient(g *group) {
	s := section{ID: "clients", Title: "By client"}
	for _, op := range g.ops {
		if len(op.ByClient) > 1 {
			s.Blocks = append(s.Blocks, block{Table: partTable(op, "client", op.ByClient, len(op.ByClient) > 20)})
		}
	}
	p.section(s)
}

// soFar shows the figures of hosts and clients while the run lasts.
func (p *Page) soFar(kind string, parts []monitor.Part, elapsed time.Duration) {
	if len(parts) < 2 || elapsed <= 0 {
		return
	}
	t := &table{Caption: "All operations by " + kind + " so far", Head: []string{kind, "requests", "errors", "bytes/s", "objects/s", "mean latency"}}
	for i := range parts {
		h := &parts[i]
		mean := dash
		if n := h.Requests - h.Errors; n > 0 {
			mean = human.Millis(float64(h.Busy) / float64(n) / 1e6)
		}
		bytes := dash
		if h.Bytes > 0 {
			bytes = human.Rate(float64(h.Bytes) / elapsed.Seconds())
		}
		t.Rows = append(t.Rows, []string{withoutScheme(h.Name), count(h.Requests), count(h.Errors), bytes, svg.Grouped(float64(h.Objects) / elapsed.Seconds()), mean})
	}
	p.section(section{ID: kind + "s-so-far", Title: "By " + kind + " so far", Blocks: []block{{Table: t}}})
}

// bySize adds a table if sizes vary.
func (p *Page) bySize(g *group) {
	s := section{ID: "sizes", Title: "By size of the object"}
	for _, op := range g.ops {
		if len(op.SizeClasses) == 0 || !op.HasBytes() {
			continue
		}
		t := &table{Caption: human.Visible(op.Op) + " by size", Head: []string{"size", "requests", "median speed"}}
		for _, c := range percentileColumns() {
			t.Head = append(t.Head, c.head)
		}
		for i := range op.SizeClasses {
			c := &op.SizeClasses[i]
			name := c.From + " to " + c.To
			if c.To == "" {
				name = c.From + " and more"
			}
			speed := dash
			if c.Speed != nil {
				speed = human.Rate(c.Speed.P50)
			}
			row := []string{name, count(c.Requests), speed}
			for _, k := range percentileColumns() {
				row = append(row, millisCell(c.Duration, k.of))
			}
			t.Rows = append(t.Rows, row)
		}
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	p.section(s)
}

// errors lists the codes and the first error of each.
func (p *Page) errors(g *group) {
	s := section{ID: "errors", Title: "Errors"}
	if c := p.errorsOverTime(g); c != nil {
		s.Blocks = append(s.Blocks, block{Chart: c})
	}
	t := &table{Caption: "Errors by code, with the first of each", Head: []string{"operation", "code", "number", "first at", "host", "first message"}, Text: true}
	for _, op := range g.ops {
		for _, code := range byNumber(op.ErrorsByCode) {
			row := []string{human.Visible(op.Op), human.Visible(code), count(op.ErrorsByCode[code]), dash, dash, dash}
			for _, e := range op.FirstErrors {
				if e.Code != code {
					continue
				}
				if !e.Time.IsZero() {
					row[3] = e.Time.In(p.loc).Format("15:04:05.000 MST")
				}
				row[4], row[5] = withoutScheme(e.Endpoint), human.Visible(cut(strings.TrimPrefix(e.Error, e.Code+": "), 300))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	p.section(s)
}

// cut shortens foreign text.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// outside shows requests outside the window, which could hide something slow.
func (p *Page) outside(g *group) {
	t := &table{Caption: "Requests that started before or after the window, or had no answer at its end",
		Head: []string{"operation", "before", "errors", "in flight at its begin", "longest of them", "after", "errors", "without an answer"}}
	any := false
	for _, op := range g.ops {
		if op.WindowBasis == results.Whole {
			continue
		}
		row := []string{human.Visible(op.Op), count(op.WarmUp.Requests), count(op.WarmUp.Errors), count(op.InFlight.Requests), human.Millis(op.InFlight.LongestMS),
			count(op.Late.Requests), count(op.Late.Errors), "0"}
		if op.Unanswered != nil {
			row[7] = count(op.Unanswered.Requests)
		}
		any = any || op.WarmUp.Requests+op.Late.Requests > 0 || op.Unanswered != nil
		t.Rows = append(t.Rows, row)
	}
	if any {
		p.section(section{ID: "outside", Title: "Outside of the window", Blocks: []block{{Table: t}}})
	}
}
