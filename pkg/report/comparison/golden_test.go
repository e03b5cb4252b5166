package comparison

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/compare"
	"warp/pkg/identity"
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

func TestGolden(t *testing.T) {
	t.Parallel()
	l := testlog.Loads()["mixed"]
	l.Schedule, l.Sizes, l.Ops, l.Hosts = true, true, []string{"GET", "STAT"}, 2
	o := aggregate.Options{Verbose: true, SegmentDur: 2 * time.Second}
	before := analyze(t, l.Rows(1), o)
	before.Describe(testlog.Metadata())
	l.Latency, l.Failures, l.Schedule = 25*time.Millisecond, 0, false
	after := analyze(t, l.Rows(2), o)
	after.Describe(testlog.Metadata())
	after.Parameters["concurrent"] = "16"
	workload := identity.Of(&oplog.Header{Benchmark: after.Benchmark, Parameters: after.Parameters}, 1)
	after.Workload = &workload
	after.Engine = ""
	c := compare.Reports(before, after)
	golden(t, "compare.txt", func(w io.Writer) error { return Text(w, c, printer.Options{}) })
	golden(t, "compare.json", func(w io.Writer) error { return printer.JSON(w, c) })
}

func TestDifferentOperations(t *testing.T) {
	t.Parallel()
	get := analyze(t, testlog.Loads()["get"].Rows(1), aggregate.Options{})
	del := analyze(t, testlog.Loads()["delete"].Rows(1), aggregate.Options{})
	failing := analyze(t, testlog.Loads()["failing"].Rows(1), aggregate.Options{})
	golden(t, "compare-other.txt", func(w io.Writer) error { return Text(w, compare.Reports(get, del), printer.Options{}) })
	golden(t, "compare-new.txt", func(w io.Writer) error { return Text(w, compare.Reports(failing, get), printer.Options{}) })
	golden(t, "compare-gone.txt", func(w io.Writer) error { return Text(w, compare.Reports(get, failing), printer.Options{}) })
}

func TestScriptsGolden(t *testing.T) {
	t.Parallel()
	texts := []string{"PUT 9 OBJECTS", "GET 9 OBJECTS AT RATE 10 PER SECOND WARMUP 2 SECONDS", "GET RUNTIME 2 SECONDS", "DELETE"}
	of := func(seed uint64, texts []string) *results.Report {
		rows, _ := testlog.Script(seed)
		r := analyze(t, rows, aggregate.Options{})
		r.Describe(oplog.Header{Benchmark: "script", Statements: texts, Parameters: map[string]string{"host": "127.0.0.1:9000"}}, oplog.Trailer{End: "completed"})
		return r
	}
	before, after := of(1, texts), of(2, append(slices.Clone(texts[:2]), "GET RUNTIME 3 SECONDS"))
	golden(t, "compare-script.txt", func(w io.Writer) error { return Text(w, compare.Reports(before, after), printer.Options{}) })
}

func TestCompactGolden(t *testing.T) {
	t.Parallel()
	reports := make([]*results.Report, 2)
	for i := range reports {
		reports[i] = analyze(t, testlog.Loads()["mixed"].Rows(uint64(1+i)), aggregate.Options{SegmentDur: time.Second})
		reports[i].Describe(testlog.Metadata())
	}
	c := compare.Reports(reports[0], reports[1])
	for _, width := range []int{60, 80, 120, 200} {
		var b bytes.Buffer
		check.OK(t, Compact(&b, c, printer.Options{Width: width}))
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d of %d columns: %s", n, width, line)
			}
		}
		golden(t, fmt.Sprintf("mixed-cmp-compact-%d.txt", width), func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
	}
}

// A report compared with itself has no changes.
func TestWithItself(t *testing.T) {
	t.Parallel()
	for name, l := range testlog.Loads() {
		r := analyze(t, l.Rows(1), aggregate.Options{})
		var text bytes.Buffer
		check.OK(t, Text(&text, compare.Reports(r, r), printer.Options{}))
		for line := range strings.Lines(text.String()) {
			if strings.Contains(line, "%)") && strings.ContainsAny(strings.ReplaceAll(line, "99.9%", ""), "-→") {
				t.Errorf("%s: something changed: %s", name, line)
			}
		}
	}
}
