//go:build !windows

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/cli/session/plan"
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

// findInOneStep runs a search of a single step, of 20 requests/s. It does so again, a few times, if this machine stalled so
// long that there was no time for the step, that requests were not sent, or that many were sent at once.
func findInOneStep(t *testing.T, args func(store string) []string) (store *queueStore, dir string, run result, r *find.Report) {
	t.Helper()
	for range 4 {
		store, dir, r = newQueueStore(t, 4, time.Millisecond), t.TempDir(), &find.Report{}
		run = warpIn(t, dir, args(store.address)...)
		if err := json.Unmarshal([]byte(run.out), r); err != nil {
			t.Fatalf("exit code %d, %v: %s%s", run.code, err, run.err, run.out)
		}
		if len(r.Steps) > 0 && !strings.Contains(r.FailsFirst, "of the requests were answered in time") && r.Steps[0].Rate > 14 && r.Steps[0].Rate < 26 {
			break
		}
	}
	if len(r.Steps) == 0 {
		t.Fatalf("exit code %d: %s%s", run.code, run.err, run.out)
	}
	return store, dir, run, r
}

// A search that has time for a single step uploads its objects once and removes them, reports what is known, and can be shown
// again.
func TestFind(t *testing.T) {
	t.Parallel()
	store, dir, run, r := findInOneStep(t, func(store string) []string {
		return []string{"find", "--assert=errors<=50%", "--start=20", "--max-time=14s", "--at-least=30", "--logs=search", "--json", "--html=page.html",
			"get", "--host=" + store, "--obj.size=1KiB", "--objects=5", "--concurrent=2", "--arrival=poisson"}
	})
	if run.code != exit.Undecided || r.Status != find.Undecided || r.Held != 20 || r.Estimate != 20 || r.Failed != 0 || r.Enough != find.Inconclusive || r.Sentence != "--max-time=14s has passed" {
		t.Fatalf("exit code %d, %s\n%s", run.code, run.err, run.out)
	}
	step := r.Steps[0]
	if len(r.Steps) != 1 || step.Outcome != find.Held || step.Load != 20 || len(step.Values) != 1 || *step.Values[0].Measured != 0 || step.Values[0].High == nil || step.Rate < 14 || step.Rate > 26 {
		t.Errorf("%+v", r.Steps)
	}
	if n := store.uploads.Load(); n != 5 {
		t.Errorf("%d uploads, want those of one pool, 5", n)
	}
	if keys := store.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
	page, err := os.ReadFile(filepath.Join(dir, "page.html"))
	if command := "warp find '--assert=errors<=50%' --start=20 "; err != nil || !strings.HasPrefix(r.Command, command) || !strings.HasSuffix(r.Command, " --arrival=poisson") || !bytes.Contains(page, []byte("--max-time=14s --at-least=30")) {
		t.Errorf("the command is %q, want %q…; page: %v", r.Command, command, err)
	}
	if strings.Contains(run.out, "secret-key") {
		t.Error("the report has the key")
	}
	if again := warpIn(t, dir, "find", "search"); again.code != 0 || !strings.Contains(again.out, "The highest load is at least 20 requests/s: --max-time=14s has passed.") {
		t.Errorf("exit code %d: %s%s", again.code, again.err, again.out)
	}
	same := warpIn(t, dir, "cmp", "--html=change.html", "search", "search")
	if same.code != 0 || !strings.Contains(same.out, "The brackets overlap") {
		t.Errorf("exit code %d: %s%s", same.code, same.err, same.out)
	}
	page, err = os.ReadFile(filepath.Join(dir, "change.html"))
	if err != nil || !bytes.Contains(page, []byte("The brackets overlap")) {
		t.Errorf("the page: %v", err)
	}
}

// The plan says what the search and its first step do and cost. Nothing is sent or written.
func TestFindDryRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"find", "--dry-run", "--assert=response.p99<20ms", "--start=200", "--logs=search", "get", "--host=127.0.0.1:1", "--obj.size=1KiB", "--objects=50"}
	run := warpIn(t, dir, args...)
	for _, want := range []string{
		"the first step offers 200 requests/s; the load doubles until a step fails",
		"all steps use the same objects, which are uploaded once",
		"at N requests/s, the search makes up to 1,200 × N requests",
		"uploads 50 objects of 1KiB",
		"all preparations together make 50 PUT requests",
		"the preparation makes 50 PUT requests",
		"the measurement makes 2,200 GET requests",
		"op logs go to search",
		"Nothing was done (--dry-run).",
	} {
		if !strings.Contains(run.out, want) {
			t.Errorf("the plan does not say %q", want)
		}
	}
	if run.code != exit.OK || t.Failed() {
		t.Fatalf("exit code %d: %s%s", run.code, run.err, run.out)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v, written were %v", err, files)
	}
	// The objects of get are uploaded once, those of mixed for each run. Runs take 5 s at least on average.
	for benchmark, uploads := range map[string]float64{"get": 50, "mixed": 240 * 50} {
		args[slices.Index(args, "get")] = benchmark
		run := warpIn(t, dir, append(args, "--json")...)
		args[slices.Index(args, benchmark)] = "get"
		var d plan.DryRun
		if err := json.Unmarshal([]byte(run.out), &d); err != nil || len(d.Plan) < 8 || d.Cost == nil {
			t.Errorf("%s: exit code %d, %v: %s%s", benchmark, run.code, err, run.err, run.out)
		} else if c := d.Cost; c.Uploads != uploads || c.UploadBytes != 1024*uploads || !c.Unlimited || c.Renewals != 61 {
			t.Errorf("%s: the cost is %+v", benchmark, c)
		}
	}
}

// What would fail at the first step at the latest fails before it.
func TestFindRefuses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"get": "warp find needs an assertion",
		"--assert=response.p99<1ms --search=concurrent get":      "assert the service time, such as p99, or leave out --search",
		"get --assert=every_15s_p99<1ms":                         "is about pieces that are longer than the shortest step, 10s",
		"--assert=p99<1ms --start=0 get":                         "0 is not a load between 0.1 and 100,000,000",
		"--assert=p99<1ms --rps-limit=5 get":                     "--rps-limit cannot be used in warp find",
		"--assert=p99<1ms --duration=5s get":                     "--duration cannot be used in warp find",
		"--assert=p99<1ms --stages=1m@5 get":                     "--stages cannot be used in warp find",
		`--assert=p99<1ms get --marks={"at":"1s","text":"x"}`:    "--marks cannot be used in warp find",
		"--assert=p99<1ms --max-time=9s get":                     "--max-time=9s is too short for the first step, which takes 10s",
		"--assert=p99<1ms --max-time=19s --start=5 get":          "--max-time=19s is too short for the first step, which takes 1m",
		"--assert=max<1ms get":                                   "a search needs an interval, and an extreme has none",
		"--assert=p99.change<1% get":                             "is not about a single load",
		"--assert=GET.p99<1ms put":                               "the report of this run has no GET",
		"--assert=p99.9<1ms --start=1 get":                       "take longer than --max-step=2m at 1 requests/s",
		"nothing":                                                "nothing is neither a benchmark nor the folder of a search",
		"--assert=p99<1ms --search=concurrent --start=1.5 get":   "is not a number of workers",
		"--assert=p99<1ms --concurrent=9 --max-concurrent=8 get": "--concurrent=9 is more than --max-concurrent=8",
		"--assert=p99<1ms --resolution=0 get":                    "is not between 0.1 and 100 percent",
		"--assert=p99<1ms analyze":                               "the command analyze is not a benchmark",
	} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "_", " ")
		}
		run := runWarp(t, nil, append([]string{"find", "--obj.size=1KiB"}, words...)...)
		if strings.HasSuffix(args, "analyze") {
			run = runWarp(t, nil, append([]string{"find"}, words...)...)
		}
		if run.code != exit.Usage || !strings.Contains(run.err, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, run.code, run.err, want)
		}
	}
}

// Over a fleet, a load is the sum of all clients, and each client uses its own share of the objects of the search.
func TestFindOverAFleet(t *testing.T) {
	t.Parallel()
	store, _, run, r := findInOneStep(t, func(store string) []string {
		return []string{"find", "--assert=errors<=50%", "--start=20", "--max-time=18s", "--logs=search", "--json",
			"get", "--host=" + store, "--warp-client=" + twoClients(t), "--warp-client-wait=60s", "--obj.size=1KiB", "--objects=5", "--concurrent=2", "--arrival=poisson"}
	})
	step := r.Steps[0]
	if r.Held != 20 || step.Load != 20 || step.Rate < 14 || step.Rate > 26 {
		t.Errorf("exit code %d, %s\n%s", run.code, run.err, run.out)
	}
	if n := store.uploads.Load(); n != 2*5 {
		t.Errorf("%d uploads, want those of two clients, 10", n)
	}
	if keys := store.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
}
