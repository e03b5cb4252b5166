package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/miniowarp"
	"warp/pkg/oplog"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	check.OK(t, write(&b))
	check.Golden(t, filepath.Join("testdata", name), b.String())
}

func analyze(t *testing.T, rows []oplog.Record, o aggregate.Options) *results.Report {
	t.Helper()
	r, err := aggregate.Analyze(testlog.Log(rows), o)
	check.OK(t, err)
	return r
}

// described returns a report with all metadata that a log's comments can contain.
func described(t *testing.T, l testlog.Load, seed uint64, o aggregate.Options) *results.Report {
	t.Helper()
	r := analyze(t, l.Rows(seed), o)
	r.Describe(testlog.Metadata())
	return r
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, l := range testlog.Loads() {
		if name == "day" || name == "long" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := aggregate.Options{Verbose: true, SegmentDur: 2 * time.Second}
			r := analyze(t, l.Rows(1), o)
			golden(t, name+".txt", func(w io.Writer) error { return Text(w, r, printer.Options{}) })
			golden(t, name+"-verbose.txt", func(w io.Writer) error { return Text(w, r, printer.Options{Verbose: true}) })
			golden(t, name+".csv", func(w io.Writer) error { return CSV(w, r) })
		})
	}
}

func TestGoldenDescribed(t *testing.T) {
	t.Parallel()
	l := testlog.Loads()["mixed"]
	l.Schedule, l.Sizes, l.Ops, l.Hosts = true, true, []string{"GET", "STAT"}, 2
	o := aggregate.Options{Verbose: true, SegmentDur: 2 * time.Second}
	r := described(t, l, 1, o)
	golden(t, "described.json", func(w io.Writer) error { return printer.JSON(w, r) })
	cest := time.FixedZone("CEST", 7200)
	golden(t, "described.txt", func(w io.Writer) error {
		return Text(w, r, printer.Options{Color: true, Verbose: true, Location: cest})
	})
}

func TestGoldenAggregated(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../miniowarp/testdata/aggregated.json")
	check.OK(t, err)
	defer file.Close()
	r, err := miniowarp.Read(file, "")
	check.OK(t, err)
	golden(t, "aggregated.txt", func(w io.Writer) error { return Text(w, r, printer.Options{Verbose: true}) })
}

func TestStatementGolden(t *testing.T) {
	t.Parallel()
	rows, _ := testlog.Script(1)
	r := analyze(t, rows, aggregate.Options{})
	r.Describe(oplog.Header{Benchmark: "script", Statements: []string{"PUT 9 OBJECTS", "GET 9 OBJECTS AT RATE 10 PER SECOND WARMUP 2 SECONDS", "GET RUNTIME 2 SECONDS", "DELETE"},
		Parameters: map[string]string{"host": "127.0.0.1:9000"}}, oplog.Trailer{End: "completed"})
	golden(t, "script.txt", func(w io.Writer) error { return Text(w, r, printer.Options{}) })
	golden(t, "script.csv", func(w io.Writer) error { return CSV(w, r) })
}

func TestPhases(t *testing.T) {
	t.Parallel()
	r := analyze(t, testlog.Loads()["get"].Rows(1), aggregate.Options{})
	one := &results.Stats{Count: 7, Mean: 1, Min: 1, Max: 1}
	r.Operations[0].HTTPPhases = &results.Phases{Connect: one, Wait: one}
	var text bytes.Buffer
	if err := Text(&text, r, printer.Options{}); err != nil || !strings.Contains(text.String(), "\nHTTP phases of a sample of requests:\n * connect (7): Avg: 1.00ms") {
		t.Errorf("%v in\n%s", err, text.String())
	}
}
