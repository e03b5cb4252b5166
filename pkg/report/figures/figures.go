// Package figures has the columns of tables about operations, hosts, clients and runs, for the live
// view, the report on a terminal, and pages: their titles, their formats, and which of them a
// narrow table leaves out first.
package figures

import (
	"cmp"
	"slices"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/results"
)

// A Row has the figures of an operation, a host, a client or a run.
type Row struct {
	Name                   string
	Requests, Errors       uint64
	Share                  float64 // of all requests, 0 to 1
	BytesPerS, ObjectsPerS float64
	HasBytes               bool
	Untimed                bool    // there is no time to measure rates in
	MeanBytesPerS          float64 // since the start, if the other rates are about the last seconds

	Latency, TTFB, Response *results.Stats         // nil = unknown
	Averaged                *results.AveragedStats // instead of Latency in aggregated results
}

// Of returns the row of an operation. Its requests include those outside the window.
func Of(op *results.Operation) Row {
	return Row{Name: human.Visible(op.Op), Requests: op.Requests, Errors: op.Errors, Share: op.Share, BytesPerS: op.BytesPerS, ObjectsPerS: op.ObjectsPerS,
		HasBytes: op.HasBytes(), Untimed: op.WindowS == 0, Latency: op.Duration, TTFB: op.TTFB, Response: op.Response, Averaged: op.AveragedDuration}
}

// A Figure is a column.
type Figure int

// The figures, in the order in which reports show them.
const (
	Errors Figure = iota
	Share
	Bytes
	Objects
	Mean
	P50
	P90
	P99
	P999
	Max
	TTFBP50
	TTFBP99
	ResponseP50
	ResponseP99
	ResponseMax
	MeanBytes
	Requests
)

// Report returns the figures of a report, without the response times of open loops.
func Report() []Figure {
	return []Figure{Errors, Share, Bytes, Objects, Mean, P50, P90, P99, P999, Max, TTFBP50, TTFBP99, Requests}
}

// None is the cell of an unknown figure.
const None = "-"

// A description says how a figure is shown.
type description struct {
	title string
	drop  int // the highest is left out first, 0 never
	cell  func(*Row) string
}

// describe has all figures. Rates of bytes are in the unit.
func describe(unit human.RateUnit) [Requests + 1]description {
	ttfb := func(r *Row) *results.Stats { return r.TTFB }
	response := func(r *Row) *results.Stats { return r.Response }
	p50 := func(s *results.Stats) float64 { return s.P50 }
	p99 := func(s *results.Stats) float64 { return s.P99 }
	highest := func(s *results.Stats) float64 { return s.Max }
	return [...]description{
		Errors:  {"errors", 0, func(r *Row) string { return human.Grouped(r.Errors) }},
		Share:   {"share", 4, func(r *Row) string { return human.WholePercent(r.Share) + "%" }},
		Bytes:   {unit.Name(), 0, bytes(unit, func(r *Row) float64 { return r.BytesPerS })},
		Objects: {"obj/s", 1, objects},
		Mean: {"mean", 8, service(func(s *results.Stats) float64 { return s.Mean },
			func(a *results.AveragedStats) string { return human.Millis(a.Mean) })},
		P50:         {"p50", 2, service(p50, func(a *results.AveragedStats) string { return averaged("≈", a.P50) })},
		P90:         {"p90", 5, service(func(s *results.Stats) float64 { return s.P90 }, func(a *results.AveragedStats) string { return averaged("≈", a.P90) })},
		P99:         {"p99", 0, service(p99, func(a *results.AveragedStats) string { return averaged("≈", a.P99) })},
		P999:        {"p99.9", 3, service(func(s *results.Stats) float64 { return s.P999 }, func(*results.AveragedStats) string { return None })},
		Max:         {"max", 0, service(highest, func(a *results.AveragedStats) string { return averaged("", a.Max) })},
		TTFBP50:     {"ttfb p50", 6, latency(ttfb, p50)},
		TTFBP99:     {"ttfb p99", 7, latency(ttfb, p99)},
		ResponseP50: {"response p50", 6, latency(response, p50)},
		ResponseP99: {"response p99", 1, latency(response, p99)},
		ResponseMax: {"response max", 2, latency(response, highest)},
		MeanBytes:   {"mean " + unit.Name(), 3, bytes(unit, func(r *Row) float64 { return r.MeanBytesPerS })},
		Requests:    {"requests", 9, func(r *Row) string { return human.Grouped(r.Requests) }},
	}
}

func bytes(unit human.RateUnit, rate func(*Row) float64) func(*Row) string {
	return func(r *Row) string {
		if !r.HasBytes || r.Untimed {
			return None
		}
		return unit.Digits(rate(r))
	}
}

func objects(r *Row) string {
	if r.Untimed {
		return None
	}
	return human.PerSecond(r.ObjectsPerS)
}

func latency(stats func(*Row) *results.Stats, of func(*results.Stats) float64) func(*Row) string {
	return func(r *Row) string {
		s := stats(r)
		if s == nil {
			return None
		}
		return Millis(s, of(s))
	}
}

// service shows service times, of aggregated results as well.
func service(of func(*results.Stats) float64, averaged func(*results.AveragedStats) string) func(*Row) string {
	known := latency(func(r *Row) *results.Stats { return r.Latency }, of)
	return func(r *Row) string {
		if r.Averaged != nil {
			return averaged(r.Averaged)
		}
		return known(r)
	}
}

// averaged shows what aggregated results know. ≈ marks averages of percentiles.
func averaged(mark string, ms *float64) string {
	if ms == nil {
		return None
	}
	return mark + human.Millis(*ms)
}

// Millis shows a duration. It marks one that is a lower bound because of requests that were never
// sent.
func Millis(s *results.Stats, ms float64) string {
	if IsBound(s, ms) {
		return "> " + human.Millis(ms)
	}
	return human.Millis(ms)
}

// IsBound reports whether requests that were never sent may be above a figure.
func IsBound(s *results.Stats, ms float64) bool { return s.Unsent > 0 && ms >= s.UnsentMin }

// Unit returns the unit for the rates of all rows.
func Unit(rows []Row) human.RateUnit {
	fastest := 0.0
	for i := range rows {
		fastest = max(fastest, cmp.Or(rows[i].MeanBytesPerS, rows[i].BytesPerS)) // the mean does not jump
	}
	return human.SegmentUnit(fastest)
}

// Columns returns the columns of a table, the first of which has the names of the rows. It leaves
// out the share of a single row, rates of bytes if no row has payload, and less important figures
// that no row has.
func Columns(title string, rows []Row, unit human.RateUnit, list ...Figure) []columns.Column {
	names := columns.Column{Title: title}
	payload := false
	for i := range rows {
		names.Cells = append(names.Cells, rows[i].Name)
		payload = payload || rows[i].HasBytes
	}
	all := []columns.Column{names}
	for _, f := range list {
		if f == Share && len(rows) == 1 || !payload && (f == Bytes || f == MeanBytes) {
			continue
		}
		if column := Column(f, rows, unit); column.Drop == 0 || slices.ContainsFunc(column.Cells, func(s string) bool { return s != None }) {
			all = append(all, column)
		}
	}
	return all
}

// Column returns the column of a figure.
func Column(f Figure, rows []Row, unit human.RateUnit) columns.Column {
	d := describe(unit)[f]
	return columns.New(d.title, d.drop, rows, d.cell)
}
