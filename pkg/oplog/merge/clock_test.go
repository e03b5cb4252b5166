package merge

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// writeShifted writes a log of one client whose clock is ahead.
func writeShifted(t *testing.T, client string, ahead int64, starts ...int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), client+".csv.zst")
	f, err := oplog.Create(path, oplog.Header{Warp: "v1", Run: "R", Client: client, Benchmark: "get", Start: time.Unix(100, ahead).UTC(), ClockOffset: ahead})
	check.OK(t, err)
	for _, s := range starts {
		r := oplog.Record{Op: "GET", Client: client, Start: s, Duration: 5, Due: s - 1, FirstByte: 2}
		check.OK(t, f.Write([]oplog.Record{r}))
	}
	if _, err := f.Commit(oplog.Trailer{End: "completed"}); err != nil {
		t.Fatal(err)
	}
	return path
}

func readWhole(t *testing.T, path string) (all []oplog.Record, h oplog.Header) {
	t.Helper()
	r, all := testlog.ReadFile(t, path)
	return all, r.Header()
}

// A client's clock offset is subtracted once, however often logs are merged.
func TestMergeAppliesClockOffsets(t *testing.T) {
	t.Parallel()
	const base = int64(100e9)
	a, b := writeShifted(t, "a", 300e6, base+300e6+10), writeShifted(t, "b", -2e6, base-2e6+20)
	folder := t.TempDir()
	for _, test := range []struct {
		name   string
		inputs func() []string
		want   []int64
	}{
		{"two", func() []string { return []string{a, b} }, []int64{base + 10, base + 20}},
		{"one", func() []string { return []string{a} }, []int64{base + 10}},
		{"steps", func() []string { return []string{filepath.Join(folder, "one"), b} }, []int64{base + 10, base + 20}},
		{"again", func() []string { return []string{filepath.Join(folder, "two")} }, []int64{base + 10, base + 20}},
	} {
		path := filepath.Join(folder, test.name)
		if _, err := Logs(t.Context(), path, test.inputs(), Options{}); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		rows, h := readWhole(t, path)
		for i, r := range rows {
			if i >= len(test.want) || r.Start != test.want[i] || r.Due != r.Start-1 || r.FirstByte != 2 || r.Duration != 5 {
				t.Errorf("%s: row %d is %+v", test.name, i, r)
			}
		}
		if h.ClockOffset != 0 || len(rows) != len(test.want) {
			t.Errorf("%s: %d rows, header %+v", test.name, len(rows), h)
		}
		if len(h.Merged) == 2 && (h.Merged[0].Header.ClockApplied != 300e6 || h.Merged[1].Header.ClockApplied != -2e6) {
			t.Errorf("%s: the merged log does not say what was taken off: %+v", test.name, h.Merged)
		}
	}
	two, err := os.ReadFile(filepath.Join(folder, "two"))
	steps, err2 := os.ReadFile(filepath.Join(folder, "steps"))
	if err != nil || err2 != nil || string(two) != string(steps) {
		t.Errorf("merging in steps gives other bytes (%v, %v)", err, err2)
	}
}

func TestMergeRefusesClockOffsets(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"days":  writeShifted(t, "a", int64(48*time.Hour), 100e9),
		"early": writeShifted(t, "a", int64(time.Hour), math.MinInt64+10),
	} {
		if _, err := Logs(t.Context(), filepath.Join(t.TempDir(), "out"), []string{path}, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
