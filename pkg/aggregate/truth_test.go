package aggregate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// dataDir contains logs of another implementation, next to the repository.
const dataDir = "../../../shared/data"

// A fileLog reads a log from its start each time.
type fileLog struct {
	path   string
	header oplog.Header
	reads  int
}

func openFile(tb testing.TB, path string) *fileLog {
	tb.Helper()
	r, err := oplog.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	return &fileLog{path: path, header: r.Header()}
}

func (l *fileLog) Header() oplog.Header { return l.header }

func (l *fileLog) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	l.reads++
	r, err := oplog.Open(l.path)
	if err != nil {
		return oplog.Trailer{}, err
	}
	defer r.Close()
	var failed error
	err = r.EachInWindow(context.Background(), func(w oplog.Window, marks []oplog.Mark) { failed = errors.Join(failed, decided(w, marks)) }, rows)
	return r.Trailer(), errors.Join(err, failed)
}

// TestTruth compares the figures with those computed directly from the rows.
func TestTruth(t *testing.T) {
	t.Parallel()
	truth, err := os.ReadFile(filepath.Join(dataDir, "TRUTH.md"))
	if err != nil {
		t.Skipf("the logs of another implementation are not here: %v", err)
	}
	var report *results.Report
	rows := 0
	for line := range strings.Lines(string(truth)) {
		if name, ok := strings.CutPrefix(line, "### `"); ok && !strings.Contains(name, ".json") {
			path := filepath.Join(dataDir, strings.TrimRight(name, "`\n"))
			report, err = aggregate.Analyze(openFile(t, path), aggregate.Options{})
			if err != nil {
				t.Fatal(path, err)
			}
		}
		f := strings.Split(strings.Trim(line, "|\n "), "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if len(f) != 14 || f[0] == "op" || strings.HasPrefix(f[0], "-") {
			continue
		}
		rows++
		compareRow(t, report, f)
	}
	if rows != 8 {
		t.Errorf("found %d rows of figures, expected 8", rows)
	}
}

func compareRow(t *testing.T, r *results.Report, f []string) {
	t.Helper()
	for _, op := range r.Operations {
		if op.Op != f[0] {
			continue
		}
		fixed := func(col int, got float64, digits int) {
			if s := strconv.FormatFloat(got, 'f', digits, 64); s != f[col] {
				t.Errorf("%s column %d: got %s, want %s", f[0], col, s, f[col])
			}
		}
		near := func(col int, got float64) {
			if want, _ := strconv.ParseFloat(f[col], 64); math.Abs(got-want) > want/250+5e-4 {
				t.Errorf("%s column %d: got %v, want %v", f[0], col, got, want)
			}
		}
		fixed(1, float64(op.Requests), 0)
		fixed(2, op.WindowS, 3)
		fixed(3, op.BytesPerS/(1<<20), 3)
		fixed(4, op.ObjectsPerS, 2)
		fixed(5, float64(op.Inside), 0)
		fixed(6, op.Duration.Mean, 4)
		near(7, op.Duration.P50)
		near(8, op.Duration.P90)
		near(9, op.Duration.P99)
		near(10, op.Duration.P999)
		fixed(11, op.Duration.Max, 3)
		if f[12] == "–" {
			if op.TTFB != nil {
				t.Errorf("%s: TTFB %+v where none was observed", f[0], op.TTFB)
			}
			return
		}
		near(12, op.TTFB.P50)
		near(13, op.TTFB.P99)
		return
	}
	t.Error(fmt.Errorf("no %s in the report", f[0]))
}
