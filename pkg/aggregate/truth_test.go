package aggregate_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"warp/pkg/aggregate"
	"warp/pkg/oplog"
)

// dataDir holds logs that another implementation wrote, beside the repository.
const dataDir = "../../../shared/data"

// fileSource reads a log from the start each time.
func fileSource(path string) aggregate.Source {
	return func(yield func([]oplog.Record) error) error {
		r, err := oplog.Open(path)
		if err != nil {
			return err
		}
		defer r.Close()
		batch := make([]oplog.Record, 512)
		for {
			n, err := r.Read(batch)
			if n > 0 {
				if err := yield(batch[:n]); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
}

// TestTruth compares with figures that were computed straight from the rows.
func TestTruth(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(dataDir, "README.md"))
	if err != nil {
		t.Skipf("the logs of another implementation are not here: %v", err)
	}
	var report *aggregate.Report
	rows := 0
	for line := range strings.Lines(string(readme)) {
		if name, ok := strings.CutPrefix(line, "### `"); ok {
			path := filepath.Join(dataDir, strings.TrimRight(name, "`\n"))
			report, err = aggregate.Analyze(fileSource(path), aggregate.Options{})
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

func compareRow(t *testing.T, r *aggregate.Report, f []string) {
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
