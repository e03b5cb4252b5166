package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// reportOf is the report of rows with a window that has all of them.
func reportOf(t *testing.T, rows []oplog.Record) *results.Report {
	t.Helper()
	s := aggregate.NewSummary(aggregate.Options{})
	last := rows[0].Start
	for i := range rows {
		last = max(last, rows[i].End())
	}
	check.OK(t, s.SetWindow(oplog.Window{Start: testlog.Epoch, Begin: testlog.Epoch, End: last + 1}))
	_ = s.Write(rows)
	s.Close(oplog.Trailer{})
	r, err := s.Report()
	check.OK(t, err)
	return r
}

// TestIntervals reads the log with HdrHistogram's own reader.
func TestIntervals(t *testing.T) {
	t.Parallel()
	r := reportOf(t, testlog.Loads()["mixed"].Rows(1))
	var b bytes.Buffer
	check.OK(t, Intervals(&b, r))
	got := map[string]int64{}
	reader := hdr.NewHistogramLogReader(bytes.NewReader(b.Bytes()))
	var before int64
	for n := 0; ; n++ {
		h, err := reader.NextIntervalHistogram()
		check.OK(t, err)
		if h == nil {
			if n < 20 {
				t.Errorf("only %d intervals", n)
			}
			break
		}
		got[h.Tag()] += h.TotalCount()
		if h.StartTimeMs() < before || h.EndTimeMs() <= h.StartTimeMs() || h.EndTimeMs()-h.StartTimeMs() > 1001 {
			t.Errorf("an interval from %d to %d ms after one that began at %d", h.StartTimeMs(), h.EndTimeMs(), before)
		}
		before = h.StartTimeMs()
	}
	for _, op := range r.Operations {
		if got[op.Op] != int64(op.Inside) {
			t.Errorf("%s: %d values, want %d", op.Op, got[op.Op], op.Inside)
		}
	}
	if !strings.Contains(b.String(), "#[BaseTime: 1767323045.000 (seconds since epoch)]\n") {
		t.Errorf("the log begins with\n%.300s", &b)
	}
}

// TestPercentiles holds the text against the figures of the report.
func TestPercentiles(t *testing.T) {
	t.Parallel()
	r := reportOf(t, testlog.Loads()["get"].Rows(1))
	var b strings.Builder
	check.OK(t, Percentiles(&b, r))
	var median float64
	lines := strings.Split(b.String(), "\n")
	for _, l := range lines {
		var value, share, count, tail float64
		if n, _ := fmt.Sscan(l, &value, &share, &count, &tail); n == 4 && share == .5 {
			median = value
		}
	}
	want := r.Operations[0].Duration
	if median < want.P50*.99 || median > want.P50*1.01 {
		t.Errorf("the median is %v, want %v", median, want.P50)
	}
	if total := fmt.Sprintf("Total count    = %12d]", want.Count); !strings.Contains(b.String(), total) || !strings.Contains(lines[0], "1/(1-Percentile)") {
		t.Errorf("there is no %q, or no head, in\n%s", total, &b)
	}
	if err := Percentiles(&b, reportOf(t, testlog.Loads()["mixed"].Rows(1))); !errors.Is(err, ErrSeveral) || !strings.Contains(err.Error(), "DELETE") {
		t.Errorf("of four operations: %v", err)
	}
}

// TestNothingToExport has requests that all failed.
func TestNothingToExport(t *testing.T) {
	t.Parallel()
	r := reportOf(t, testlog.Loads()["failing"].Rows(1))
	var b bytes.Buffer
	if Percentiles(&b, r) == nil || Intervals(&b, r) == nil || b.Len() > 0 {
		t.Errorf("it is exported as %q", &b)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	r := &results.Report{Groups: []results.GroupReport{{}, {Run: "a,b"}}}
	for want, op := range map[string]results.Operation{
		"GET": {Op: "GET"}, "GET-2-warmup": {Op: "GET", Statement: 2, Warmup: true}, "x__y-a_b": {Op: "x,\ny", Group: 1},
	} {
		if got := tag(r, &op); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestCSV reads what was written with another reader of CSV.
func TestCSV(t *testing.T) {
	t.Parallel()
	rows := testlog.Loads()["open"].Rows(1)
	rows[0].Key, rows[0].Err, rows[0].Duration = "a \"quoted\",\tkey\n", "SlowDown: a, b", -time.Second
	for _, scripted := range []bool{false, true} {
		var b bytes.Buffer
		c, err := NewCSV(&b, scripted)
		for i := range rows {
			err = errors.Join(err, c.Write(&rows[i]))
		}
		if err = errors.Join(err, c.Flush()); err != nil || c.Rows() != int64(len(rows)) {
			t.Fatalf("%d rows, %v", c.Rows(), err)
		}
		all, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(all) != len(rows)+1 {
			t.Fatalf("%d lines, %v", len(all), err)
		}
		at := func(row int, name string) string { return all[row+1][slices.Index(all[0], name)] }
		if at(0, "file") != rows[0].Key || at(0, "error") != rows[0].Err || at(0, "duration_ns") != "0" {
			t.Errorf("the first row is %q", all[1])
		}
		for i := range rows {
			r := &rows[i]
			start, err := time.Parse(time.RFC3339Nano, at(i, "start"))
			if err != nil || start.UnixNano() != r.Start || at(i, "op") != r.Op || at(i, "bytes") != fmt.Sprint(r.Bytes) ||
				i > 0 && at(i, "duration_ns") != fmt.Sprint(int64(r.Duration)) {
				t.Fatalf("row %d is %q, want %+v", i, all[i+1], r)
			}
		}
		if has := slices.Contains(all[0], "statement"); has != scripted {
			t.Errorf("a column for statements: %v", has)
		}
	}
}
