package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/pkg/hostload"
	"warp/pkg/results"
)

// savedRuns writes reports of runs to a new folder, after change has seen each.
func savedRuns(t *testing.T, runs int, change func(i int, r *results.Report)) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for i := range runs {
		r := &results.Report{
			Version: 2, Runs: []string{fmt.Sprint(folder, i)}, End: "completed", Warnings: []string{}, Groups: []results.GroupReport{{Kind: results.KindMeasured, Operations: []string{"GET"}}},
			Operations: []results.Operation{{Op: "GET", Inside: 1000, BytesPerS: 1e6, ObjectsPerS: 100, ObjectBytes: results.SizeRange{Max: 1}, Duration: &results.Stats{Count: 1000, P50: 1, P99: 2}}},
		}
		if change != nil {
			change(i, r)
		}
		text, err := json.Marshal(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", i)), text, 0o600)
		}
		check.OK(t, err)
	}
	return folder
}

// A baseline with which check never gives a verdict is not saved silently.
func TestBaselineSave(t *testing.T) {
	t.Parallel()
	limited := hostload.Limits(&hostload.Load{WallSeconds: 10, Cores: 1, CPUSeconds: 10}, 1, false)
	failed := func(i int, r *results.Report) {
		if i == 2 {
			r.Operations[0].Errors = 1
		}
	}
	for name, test := range map[string]struct {
		runs   int
		change func(int, *results.Report)
		flags  []string
		code   int
		say    []string
	}{
		"good":            {runs: 5, code: exit.OK},
		"few":             {runs: 4, say: []string{"warning: baseline check will give no verdict: too few runs: 4, and a verdict takes at least 5 on each side"}},
		"few, one metric": {runs: 4, flags: []string{"--judge=p99"}},
		"limited":         {runs: 5, change: func(_ int, r *results.Report) { r.Warnings = limited }, say: []string{"5 of the 5 runs of the baseline may have measured warp's machine and not the store"}},
		"one figure limited": {runs: 5, change: func(i int, r *results.Report) {
			r.Operations[0].Wire = &results.Stats{Count: 1000, P50: 1, P99: 2 - float64(i%2)}
		}, say: []string{"baseline check may give no verdict on GET p99: in 2 of the 5 runs it describes warp's machine and not the store: 50 % of the service time"}},
		"ended early":      {runs: 5, change: func(_ int, r *results.Report) { r.End = "interrupted" }, say: []string{"5 of the 5 runs of the baseline ended early"}},
		"failed":           {runs: 5, change: failed, code: exit.Failed, say: []string{"2.json: 1 request failed in this run", "--allow-failed"}},
		"failed, allowed":  {runs: 5, change: failed, flags: []string{"--allow-failed"}},
		"many have failed": {runs: 5, change: func(_ int, r *results.Report) { r.Operations[0].Errors = 100 }, flags: []string{"--allow-failed"}, say: []string{"had more than 0.1 % errors"}},
		"different to each": {runs: 5, change: func(i int, r *results.Report) {
			r.Benchmark, r.Parameters = "put", map[string]string{"concurrent": fmt.Sprint(1 + i%2)}
		}, say: []string{"the runs of the baseline are not all the same: concurrent is 1 and 2"}},
	} {
		dir := t.TempDir()
		r := runWarp(t, nil, append([]string{"baseline", "save", "--dir=" + dir, "main", savedRuns(t, test.runs, test.change)}, test.flags...)...)
		if r.code != test.code {
			t.Errorf("%s: exit code %d: %s", name, r.code, r.err)
		}
		for _, s := range test.say {
			if !strings.Contains(r.err, s) {
				t.Errorf("%s: %q is missing in %s", name, s, r.err)
			}
		}
		if len(test.say) == 0 && strings.Contains(r.err, "warning") {
			t.Errorf("%s: %s", name, r.err)
		}
		if _, err := os.Stat(filepath.Join(dir, "main")); (err == nil) != (test.code == exit.OK) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every reader of recorded runs refuses a log without requests, and says that a log is cut off.
func TestDamagedLogs(t *testing.T) {
	t.Parallel()
	const head = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tlast_byte\tend\tduration_ns\tcat\n"
	row := func(i int) string {
		return fmt.Sprintf("%d\t0\tGET\tabcd\t1\t1000\thttp://x\to\t\t2026-11-23T10:00:%02d.000000000Z\t\t\t2026-11-23T10:00:%02d.500000000Z\t500000000\t0\n", i, i, i)
	}
	rows := ""
	for i := range 30 {
		rows += row(i)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"empty.csv": head, "cut.csv": head + rows + row(30)[:40], "good.csv": head + rows} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	empty, cut, good := filepath.Join(dir, "empty.csv"), filepath.Join(dir, "cut.csv"), filepath.Join(dir, "good.csv")
	for i, args := range [][]string{
		{"cmp", empty, good}, {"report", empty, "-o", filepath.Join(dir, "a.html")}, {"baseline", "save", "--dir=" + dir, "none", empty}, {"analyze", empty},
	} {
		if r := runWarp(t, nil, args...); r.code != exit.Failed || !strings.Contains(r.err, "empty.csv: it has no requests") {
			t.Errorf("%d, %s: exit code %d: %s", i, args[0], r.code, r.err)
		}
	}
	for _, args := range [][]string{
		{"report", cut, "-o", filepath.Join(dir, "b.html")}, {"baseline", "save", "--dir=" + dir, "main", cut}, {"cmp", "--json", cut, good},
	} {
		if r := runWarp(t, nil, args...); r.code != exit.OK || strings.Count(r.err, "cut.csv: ") != 1 {
			t.Errorf("%s: exit code %d: %s", args[0], r.code, r.err)
		}
	}
}
