package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// csvColumns are the columns of the time series that existing scripts read.
const csvColumns = "index\top\thost\tduration_s\tobjects_per_op\tbytes\tfull_ops\tpartial_ops\tops_started\tops_ended\terrors\t" +
	"mb_per_sec\tops_ended_per_sec\tobjs_per_sec\tstart_time\tend_time"

// csvTimes are the additional columns after them.
const csvTimes = "\tp50_ms\tp90_ms\tp99_ms\tmax_ms\terror_rate"

// CSV renders the segments as a tab-separated time series. Each row is one segment of an operation,
// for all hosts together, so that adding up rows never counts a request twice. The host column
// contains the host if there is only one. (The JSON has the segments by host.) For a script there
// is a column with the statement, as in the op log. Latencies and the error rate come last.
func CSV(w io.Writer, r *results.Report) error {
	b := bufio.NewWriter(w)
	columns, statements := csvColumns, scripted(r)
	if statements {
		columns += "\tstatement"
	}
	fmt.Fprintln(b, columns+csvTimes)
	for i := range r.Operations {
		op := &r.Operations[i]
		host := ""
		if len(op.Hosts) == 1 {
			host = cell(op.Hosts[0].Name)
		}
		perOp := printer.Float(op.ObjectsPerOp.Mean)
		for k := range op.Segments {
			s := &op.Segments[k]
			fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s",
				k, cell(op.Op), host, printer.Float(s.DurationS), perOp, s.Bytes,
				s.FullOps, s.PartialOps, s.OpsStarted, s.OpsEnded, s.Errors,
				printer.Float(s.BytesPerS/human.MiB), printer.Float(exact.Ratio(float64(s.OpsEnded), s.DurationS)), printer.Float(s.ObjectsPerS),
				s.Start.Format(time.RFC3339Nano), segmentEnd(op, k).Format(time.RFC3339Nano))
			if statements {
				fmt.Fprintf(b, "\t%s", op.Part())
			}
			fmt.Fprintln(b, segmentTimes(s))
		}
	}
	return b.Flush()
}

// segmentTimes returns the cells of csvTimes. They are empty without requests.
func segmentTimes(s *results.Segment) string {
	times, rate := "\t\t\t\t", ""
	if d := s.Duration; d != nil {
		times = fmt.Sprintf("\t%s\t%s\t%s\t%s", printer.Float(d.P50), printer.Float(d.P90), printer.Float(d.P99), printer.Float(d.Max))
	}
	if s.ErrorRate != nil {
		rate = printer.Float(*s.ErrorRate)
	}
	return times + "\t" + rate
}

func segmentEnd(o *results.Operation, k int) time.Time {
	if k+1 < len(o.Segments) {
		return o.Segments[k+1].Start
	}
	return o.WindowEnd
}

// cell keeps a name from breaking the table.
func cell(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, s)
}
