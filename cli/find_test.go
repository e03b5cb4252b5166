//go:build !windows

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/find"
)

// warpIn runs a command line in a folder, with credentials in its environment.
func warpIn(t *testing.T, dir string, args ...string) result {
	t.Helper()
	path, err := exec.LookPath("warp")
	check.OK(t, err)
	c := exec.Command(path, args...)
	c.Dir, c.Env = dir, append(os.Environ(), teststore.QuickExit, "WARP_ACCESS_KEY=key", "WARP_SECRET_KEY=secret-key")
	var out, errw bytes.Buffer
	c.Stdout, c.Stderr = &out, &errw
	_ = c.Run()
	return result{code: c.ProcessState.ExitCode(), out: out.String(), err: errw.String()}
}

// A search that has time for a single step uploads its objects once and removes them, reports what is known, and can be shown
// again.
func TestFind(t *testing.T) {
	t.Parallel()
	store := newQueueStore(t, 2, time.Millisecond)
	dir := t.TempDir()
	run := warpIn(t, dir, "find", "--assert=errors<=50%", "--start=20", "--max-time=14s", "--at-least=30", "--logs=search", "--json", "--html=page.html",
		"get", "--host="+store.address, "--obj.size=1KiB", "--objects=5", "--concurrent=2")
	var r find.Report
	if err := json.Unmarshal([]byte(run.out), &r); err != nil {
		t.Fatalf("exit code %d, %v: %s%s", run.code, err, run.err, run.out)
	}
	if run.code != exit.Undecided || r.Status != find.Undecided || r.Held != 20 || r.Estimate != 20 || r.Failed != 0 || r.Enough != find.Inconclusive || r.Sentence != "--max-time=14s was over" {
		t.Fatalf("exit code %d, %s\n%s", run.code, run.err, run.out)
	}
	step := r.Steps[0]
	if len(r.Steps) != 1 || step.Outcome != find.Held || step.Load != 20 || len(step.Values) != 1 || *step.Values[0].Measured != 0 || step.Values[0].High == nil || step.Rate < 15 || step.Rate > 25 {
		t.Errorf("%+v", r.Steps)
	}
	if n := store.uploads.Load(); n != 5 {
		t.Errorf("%d uploads, want those of one pool, 5", n)
	}
	if keys := store.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
	if strings.Contains(run.out, "secret-key") {
		t.Error("the report has the key")
	}
	if again := warpIn(t, dir, "find", "search"); again.code != 0 || !strings.Contains(again.out, "The highest load is at least 20 requests/s: --max-time=14s was over.") {
		t.Errorf("exit code %d: %s%s", again.code, again.err, again.out)
	}
	if same := warpIn(t, dir, "cmp", "search", "search"); same.code != 0 || !strings.Contains(same.out, "The brackets overlap") {
		t.Errorf("exit code %d: %s%s", same.code, same.err, same.out)
	}
}

// What would fail at the first step at the latest fails before it.
func TestFindRefuses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"get":                                                    "warp find needs an assertion",
		"--assert=p99<1ms --rps-limit=5 get":                     "--rps-limit cannot be used in warp find",
		"--assert=p99<1ms --duration=5s get":                     "--duration cannot be used in warp find",
		"--assert=max<1ms get":                                   "there is no interval of an extreme",
		"--assert=p99.change<1% get":                             "is not about a single load",
		"--assert=GET.p99<1ms put":                               "the report of this run has no GET",
		"--assert=p99.9<1ms --start=1 get":                       "take longer than --max-step=2m at 1 requests/s",
		"--assert=p99<1ms --search=concurrent --start=1.5 get":   "is not a number of workers",
		"--assert=p99<1ms --concurrent=9 --max-concurrent=8 get": "--concurrent=9 is more than --max-concurrent=8",
		"--assert=p99<1ms --resolution=0 get":                    "is not between 0.1 and 100 percent",
		"--assert=p99<1ms analyze":                               "the command analyze is not a benchmark",
	} {
		run := runWarp(t, nil, append([]string{"find", "--obj.size=1KiB"}, strings.Fields(args)...)...)
		if strings.HasSuffix(args, "analyze") {
			run = runWarp(t, nil, append([]string{"find"}, strings.Fields(args)...)...)
		}
		if run.code != exit.Usage || !strings.Contains(run.err, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, run.code, run.err, want)
		}
	}
}
