package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// A RecordedRun is a run in a table of runs.
type RecordedRun struct {
	Set, File, Label string
	Verdict          string
	Report           *results.Report
}

// A runColumn is a column of the table of runs. Columns about the run and its operation are called as in JSON.
type runColumn struct {
	name string
	of   func(r *RecordedRun, o *results.Operation) string
}

func runColumns() []runColumn {
	about := func(name string, of func(*RecordedRun) string) runColumn {
		return runColumn{name, func(r *RecordedRun, _ *results.Operation) string { return of(r) }}
	}
	text := func(name string, of func(*results.Operation) string) runColumn {
		return runColumn{name, func(_ *RecordedRun, o *results.Operation) string { return of(o) }}
	}
	number := func(name string, of func(*results.Operation) float64) runColumn {
		return text(name, func(o *results.Operation) string { return printer.Float(of(o)) })
	}
	columns := []runColumn{
		about("set", func(r *RecordedRun) string { return r.Set }),
		about("file", func(r *RecordedRun) string { return r.File }),
		about("label", func(r *RecordedRun) string { return r.Label }),
		about("verdict", func(r *RecordedRun) string { return r.Verdict }),
		about("benchmark", func(r *RecordedRun) string { return r.Report.Benchmark }),
		about("engine", func(r *RecordedRun) string { return r.Report.Engine }),
		about("warp", func(r *RecordedRun) string { return r.Report.Warp }),
		about("end", func(r *RecordedRun) string { return r.Report.End }),
		{"groups.kind", func(r *RecordedRun, o *results.Operation) string { return r.Report.Groups[o.Group].Kind }},
		text("op", func(o *results.Operation) string { return o.Op }),
		text("statement", func(o *results.Operation) string {
			if o.Statement == 0 {
				return ""
			}
			return strconv.Itoa(o.Statement)
		}),
		text("warmup", func(o *results.Operation) string { return strconv.FormatBool(o.Warmup) }),
		text("window_start", func(o *results.Operation) string { return o.WindowStart.UTC().Format(time.RFC3339Nano) }),
		number("window_s", func(o *results.Operation) float64 { return o.WindowS }),
		number("concurrency", func(o *results.Operation) float64 { return float64(o.Concurrency) }),
		number("clients", func(o *results.Operation) float64 { return float64(o.Clients) }),
		number("requests", func(o *results.Operation) float64 { return float64(o.Requests) }),
		number("errors", func(o *results.Operation) float64 { return float64(o.Errors) }),
		number("retries", func(o *results.Operation) float64 { return float64(o.Retries) }),
		number("inside", func(o *results.Operation) float64 { return float64(o.Inside) }),
		number("objects", func(o *results.Operation) float64 { return o.Objects }),
		number("bytes", func(o *results.Operation) float64 { return float64(o.Bytes) }),
		number("objects_per_s", func(o *results.Operation) float64 { return o.ObjectsPerS }),
		number("bytes_per_s", func(o *results.Operation) float64 { return o.BytesPerS }),
		number("request_bytes.mean", func(o *results.Operation) float64 { return o.ObjectBytes.Mean }),
		text("client_share", func(o *results.Operation) string {
			if o.ClientShare == nil {
				return ""
			}
			return printer.Float(*o.ClientShare)
		}),
	}
	for _, times := range []struct {
		name string
		of   func(*results.Operation) *results.Stats
	}{
		{"duration_ms", func(o *results.Operation) *results.Stats { return o.Duration }},
		{"ttfb_ms", func(o *results.Operation) *results.Stats { return o.TTFB }},
		{"response_ms", func(o *results.Operation) *results.Stats { return o.Response }},
		{"wire_ms", func(o *results.Operation) *results.Stats { return o.Wire }},
	} {
		columns = append(columns, statColumns(times.name, times.of)...)
	}
	return columns
}

// statColumns returns the columns of durations, which are empty where there are none.
func statColumns(name string, of func(*results.Operation) *results.Stats) (all []runColumn) {
	for _, stat := range []struct {
		name string
		of   func(*results.Stats) float64
	}{
		{"mean", func(s *results.Stats) float64 { return s.Mean }}, {"stddev", func(s *results.Stats) float64 { return s.StdDev }},
		{"min", func(s *results.Stats) float64 { return s.Min }}, {"p25", func(s *results.Stats) float64 { return s.P25 }},
		{"p50", func(s *results.Stats) float64 { return s.P50 }}, {"p75", func(s *results.Stats) float64 { return s.P75 }},
		{"p90", func(s *results.Stats) float64 { return s.P90 }}, {"p99", func(s *results.Stats) float64 { return s.P99 }},
		{"p999", func(s *results.Stats) float64 { return s.P999 }}, {"max", func(s *results.Stats) float64 { return s.Max }},
	} {
		all = append(all, runColumn{name + "." + stat.name, func(_ *RecordedRun, o *results.Operation) string {
			s := of(o)
			if s == nil {
				return ""
			}
			return printer.Float(stat.of(s))
		}})
	}
	return all
}

// RunsCSV renders runs for spreadsheets: comma-separated, with a line for each operation of each run.
func RunsCSV(w io.Writer, runs []RecordedRun) error {
	to := csv.NewWriter(w) // it keeps the first error
	columns := runColumns()
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	_ = to.Write(cells)
	for i := range runs {
		r := &runs[i]
		for k := range r.Report.Operations {
			for n, c := range columns {
				cells[n] = noFormula(c.of(r, &r.Report.Operations[k]))
			}
			_ = to.Write(cells)
		}
	}
	to.Flush()
	return to.Error()
}

// noFormula keeps a spreadsheet from computing a foreign name.
func noFormula(s string) string {
	s = human.OneLine(s)
	if _, err := strconv.ParseFloat(s, 64); err != nil && s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
