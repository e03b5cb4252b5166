package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warp/cli/exit"
	"warp/cli/session/scripttable"
	"warp/pkg/compare"
	"warp/pkg/results"
)

// decoded is what a command says with --json.
func decoded[T any](t *testing.T, code int, args ...string) (v T) {
	t.Helper()
	r := runWarp(t, nil, append(args, "--json", "--quiet")...)
	if r.code != code {
		t.Fatalf("%q: exit code %d, want %d: %s", args, r.code, code, r.err)
	}
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatalf("%q: %v in %s", args, err, r.out)
	}
	return v
}

// figuresOf are the figures of FINAL and WARMUP that an analysis of the log has, too.
func figuresOf(count, failed uint64, bytes int64, duration, ttfb []float64) string {
	return fmt.Sprintf("%d requests, %d failed, %d bytes, duration %.6f, TTFB %.6f", count, failed, bytes, duration, ttfb)
}

func comparableFigures(f *scripttable.Figures) string {
	var failed int64
	for _, n := range f.Errors {
		failed += n
	}
	return figuresOf(f.Count, uint64(failed), f.Bytes, timesList(f.Duration), timesList(f.TTFB))
}

func timesList(t *scripttable.Times) []float64 {
	if t == nil {
		return nil
	}
	return []float64{t.Mean, t.Max, t.P999, t.P99, t.P90, t.P50}
}

func reported(op *results.Operation) string {
	list := func(s *results.Stats) []float64 {
		if s == nil {
			return nil
		}
		return []float64{s.Mean, s.Max, s.P999, s.P99, s.P90, s.P50}
	}
	return figuresOf(op.Requests, op.Errors, int64(op.Bytes), list(op.Duration), list(op.TTFB))
}

// What a script says at the end of each statement is what analyze makes of its log: number of requests, bytes, mean,
// maximum and percentiles, separately for a warm-up. Merging keeps the statements, and cmp compares them.
func TestScriptIsItsLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = `PUT 30 OBJECTS OF SIZE 3 KB MAX 3 CONCURRENT;
		GET 200 OBJECTS AT RATE 400 PER SECOND WARMUP 200 MILLISECONDS;
		GET RUNTIME 100 MILLISECONDS MAX 2 CONCURRENT;
		REUSE 5 OBJECTS USING NAMING STRATEGY RANDOM PREFIX WITH SEED "nowhere" IN CONTEXT "gone";
		GET 5 OBJECTS IN CONTEXT "gone";
		DELETE 10 OBJECTS; DELETE`
	script := decoded[scripttable.Report](t, exit.Requests, "script", "--host=embedded", text, "--benchdata="+filepath.Join(dir, "a"))
	if script.Version != 1 || len(script.Statements) != 7 {
		t.Fatalf("%+v", script)
	}
	log := filepath.Join(dir, "a.csv.zst")
	report := decoded[results.Report](t, exit.OK, "analyze", log)
	want := map[string]string{}
	for _, s := range script.Statements {
		if s.Warmup != nil {
			want[fmt.Sprint(s.Number, " warm-up")] = comparableFigures(s.Warmup)
		}
		if s.Final != nil {
			want[fmt.Sprint(s.Number, "")] = comparableFigures(s.Final)
		}
	}
	compareStatements(t, "analyze", &report, want)
	if !strings.Contains(strings.Join(report.Statements, "|"), "|GET 5 OBJECTS IN CONTEXT \"gone\"|") {
		t.Errorf("the statements are %q", report.Statements)
	}
	r := runWarp(t, nil, "analyze", log)
	for _, line := range []string{"\nStatement 2, warm-up: GET 200 OBJECTS AT RATE 400 PER SECOND WARMUP 200 MILLISECONDS\nOperation: GET (40).", "\nStatement 7: DELETE\nOperation: DELETE (20)."} {
		if !strings.Contains(r.out, line) {
			t.Errorf("%q is not in\n%s", line, r.out)
		}
	}

	again := decoded[scripttable.Report](t, exit.Requests, "script", "--host=embedded", text, "--benchdata="+filepath.Join(dir, "b"))
	c := decoded[compare.Changes](t, exit.OK, "cmp", log, filepath.Join(dir, "b.csv.zst"))
	if len(c.Operations) != len(want) || len(c.OnlyBefore)+len(c.OnlyAfter)+len(c.Parameters) > 0 {
		t.Errorf("%d operations are compared, want %d; %q %q %v", len(c.Operations), len(want), c.OnlyBefore, c.OnlyAfter, c.Parameters)
	}
	for _, o := range c.Operations {
		if !o.Warmup && (uint64(o.Requests.Before) != script.Statements[o.Statement-1].Final.Count || uint64(o.Requests.After) != again.Statements[o.Statement-1].Final.Count) {
			t.Errorf("statement %d: requests %+v", o.Statement, o.Requests)
		}
	}
	runWarp(t, nil, "merge", log, filepath.Join(dir, "b.csv.zst"), "--benchdata="+filepath.Join(dir, "m"))
	merged := decoded[results.Report](t, exit.OK, "analyze", filepath.Join(dir, "m.csv.zst"))
	for i := range merged.Operations {
		o := &merged.Operations[i]
		s := o.Statement - 1
		if !o.Warmup && o.Requests != script.Statements[s].Final.Count+again.Statements[s].Final.Count {
			t.Errorf("merged: %d requests of statement %d", o.Requests, o.Statement)
		}
	}
	if len(merged.Operations) != len(want) || len(merged.Statements) != 7 {
		t.Errorf("%d operations and the statements %q in the merged log", len(merged.Operations), merged.Statements)
	}
	segments := filepath.Join(dir, "segments")
	runWarp(t, nil, "analyze", log, "--analyze.out="+segments)
	if table, err := os.ReadFile(segments); err != nil || !strings.Contains(string(table), "\tend_time\tstatement\tp50_ms\t") || !strings.Contains(string(table), "\t2-warmup\t") {
		t.Errorf("%v: %s", err, table)
	}
}

// Requests of a warm-up are in its line also where they end after it, or come late to the table.
func TestScriptWarmupLine(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	r := runWarp(t, nil, "script", "--host=embedded", "--benchdata="+log,
		`PUT 5 OBJECTS OF SIZE 1 KB; GET AT RATE 400 PER SECOND WARMUP 990 MILLISECONDS RUNTIME 1300 MILLISECONDS`)
	report := decoded[results.Report](t, exit.OK, "analyze", log+".csv.zst")
	for i := range report.Operations {
		op := &report.Operations[i]
		if want := fmt.Sprintf("WARMUP | %8d ‖", op.Requests); op.Warmup && !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
}

func compareStatements(t *testing.T, what string, r *results.Report, want map[string]string) {
	t.Helper()
	warnings := slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool {
		return strings.HasPrefix(w, "this machine may have been the limit") // the machine may be busy
	})
	if len(r.Operations) != len(want) || len(warnings) > 0 {
		t.Errorf("%s: %d operations, want %d; %q", what, len(r.Operations), len(want), warnings)
	}
	for i := range r.Operations {
		op := &r.Operations[i]
		name := fmt.Sprint(op.Statement, "")
		if op.Warmup {
			name += " warm-up"
		}
		if got := reported(op); got != want[name] {
			t.Errorf("%s: statement %s:\n%s, and the script said\n%s", what, name, got, want[name])
		}
	}
}

// A table that cannot be written is an error, as the report of any benchmark is.
func TestScriptOnFullDisk(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	var errw bytes.Buffer
	a := &app{in: strings.NewReader(""), out: fullDisk{}, errw: &errw, env: mapEnvironment(nil)}
	code := a.main(t.Context(), []string{"script", "--host=embedded", "--benchdata=" + log, "PUT 1 OBJECTS; DELETE"})
	if want := "warp: error: writing the result: write out: no space left on device\n"; code != exit.Failed || !strings.HasSuffix(errw.String(), want) {
		t.Errorf("exit code %d, %q; want %q", code, errw.String(), want)
	}
	if _, err := os.Stat(log + ".csv.zst"); err != nil {
		t.Errorf("there is no log: %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil // as a real one
	}
	return 0, &fs.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC} // as a file does
}
