//go:build !windows

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/compare"
)

// A trialRun is warp ab in a process of its own.
type trialRun struct {
	dir      string
	code     int
	out, err string
	verdicts compare.Verdicts
}

// runTrial runs warp ab with keys in the environment, in an empty folder.
func runTrial(t *testing.T, args ...string) *trialRun {
	t.Helper()
	path, err := exec.LookPath("warp")
	check.OK(t, err)
	r := &trialRun{dir: t.TempDir()}
	cmd := exec.Command(path, append([]string{"ab", "--json", "--logs=logs", "--pause=0s"}, args...)...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), teststore.QuickExit, "WARP_ACCESS_KEY=key", "WARP_SECRET_KEY=secret-key")
	var out, errw bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errw
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	r.code, r.out, r.err = cmd.ProcessState.ExitCode(), out.String(), errw.String()
	if r.out != "" {
		if err := json.Unmarshal(out.Bytes(), &r.verdicts); err != nil {
			t.Fatalf("%v: %s", err, r.out)
		}
	}
	return r
}

func (r *trialRun) String() string { return fmt.Sprintf("exit code %d\n%s%s", r.code, r.err, r.out) }

// skipIfBusy skips the test where the machine was too busy for any
// verdict.
func (r *trialRun) skipIfBusy(t *testing.T) {
	t.Helper()
	for _, why := range r.verdicts.Withheld {
		if strings.Contains(why, "measured warp's machine and not the store") {
			t.Skipf("SKIPPED, the machine is too busy: %s", why)
		}
	}
	if why := "no request was made after the preparation"; strings.Contains(r.err, why) {
		t.Skipf("SKIPPED, the machine is too busy: %s", why)
	}
}

// A real comparison with several looks: the first look cannot decide anything,
// and the second one does, so that the third is never made.
func TestABEndsWhenDecided(t *testing.T) {
	t.Parallel()
	fast, slow := delayedStore(t, time.Millisecond), delayedStore(t, 25*time.Millisecond)
	r := runTrial(t, "--judge=p50", "--pairs=6", "--max-pairs=14", "--a=--host="+fast, "--b=--host="+slow,
		"--assert=p50.change<+5%", "--assert=errors<=0%", "--junit=junit.xml",
		"get", "--obj.size=1KiB", "--objects=5", "--concurrent=1", "--duration=500ms")
	r.skipIfBusy(t)
	v := &r.verdicts
	row, _ := v.Row("GET", "p50")
	if r.code != exit.Assertion || v.Before.Runs != 10 || len(v.Order) != 20 || row.Verdict != compare.Worse || *row.Change < 100 {
		t.Fatalf("%s", r)
	}
	if len(v.Looks) != 2 || !v.Looks[0].Skipped || v.Looks[0].Level != 0 || v.Looks[1].Skipped || v.Looks[1].Pairs != 10 || *row.P > v.Looks[1].Level {
		t.Errorf("looks %+v, p %v", v.Looks, *row.P)
	}
	for block := range slices.Chunk([]byte(v.Order), 4) {
		if s := string(block); s != "abba" && s != "baab" {
			t.Errorf("the order %s has %s", v.Order, s)
		}
	}
	if len(v.Assertions) != 2 || v.Assertions[0].Result != "failed" || v.Assertions[1].Result != "passed" {
		t.Errorf("%+v", v.Assertions)
	}
	if xml, err := os.ReadFile(filepath.Join(r.dir, "junit.xml")); err != nil || !strings.Contains(string(xml), `failures="1"`) {
		t.Errorf("%v: %s", err, xml)
	}
}

// Ctrl-C between two runs keeps the pairs that are complete, and says what they show.
func TestInterruptedABComparesWhatIsThere(t *testing.T) {
	t.Parallel()
	// The hook of the third run of the side ends warp, which is its parent.
	hook := "echo >> calls; test $(wc -l < calls) -lt 3 || { kill -INT $PPID; sleep 60; }"
	r := runTrial(t, "--pairs=8", "--a-setup="+hook, "--b=--concurrent=2", "stat", "--host=embedded", "--objects=20", "--duration=200ms", "--concurrent=1")
	v := &r.verdicts
	if r.code != exit.Interrupted || !v.Unfinished || v.Before.Runs != 2 || v.After.Runs != 2 || v.Verdict != compare.TooFew {
		t.Fatalf("%s", r)
	}
	if strings.Contains(r.err, "error") {
		t.Errorf("Ctrl-C is called an error: %s", r.err)
	}
	if logs, _ := filepath.Glob(filepath.Join(r.dir, "logs", "a", "*.csv.zst")); len(logs) != 2 {
		t.Errorf("logs of the first side: %q", logs)
	}
}

// Ctrl-C during a run has it save its log, which is kept apart.
func TestInterruptedABKeepsTheLogOfTheRun(t *testing.T) {
	t.Parallel()
	// The log has requests once it is larger than its first line can be.
	hook := "(until test $(cat logs/?/001.csv.zst.part | wc -c) -gt 8192; do sleep .05; done; kill -INT $0) >/dev/null 2>&1 &"
	hook = strings.Replace(hook, "$0", "$PARENT", 1)
	r := runTrial(t, "--pairs=1", "--a-setup=PARENT=$PPID; "+hook, "--b-setup=PARENT=$PPID; "+hook, "put", "--host=embedded", "--obj.size=1KiB", "--concurrent=1", "--duration=5m")
	if r.code != exit.Interrupted || r.out != "" || !strings.Contains(r.err, "interrupted before the first pair was complete; the op logs so far are in logs") {
		t.Fatalf("%s", r)
	}
	if logs, _ := filepath.Glob(filepath.Join(r.dir, "logs", "incomplete", "?-001.csv.zst")); len(logs) != 1 {
		t.Errorf("logs that are incomplete: %q in %s", logs, r)
	}
}

// The clients of a fleet end together once an assertion about all of them cannot hold any more.
func TestAssertAbortOfAFleet(t *testing.T) {
	t.Parallel()
	store, log := delayedStore(t, time.Millisecond), filepath.Join(t.TempDir(), "run")
	r := runWarp(t, nil, "get", "--host="+store, "--access-key=key", "--secret-key=secret-key", "--warp-client="+twoClients(t), "--warp-client-wait=60s",
		"--obj.size=1KiB", "--objects=5", "--concurrent=1", "--duration=10m", "--benchdata="+log, "--assert=GET.max<1ns", "--assert=errors<=0%", "--assert-abort")
	// On a busy machine the clients are the limit, and the assertion about speed is inconclusive.
	if r.code != exit.Assertion && r.code != exit.Undecided || !strings.Contains(r.out, `The run ended because "GET.max<1ns" cannot hold any more: GET.max is `) || !strings.Contains(r.out, "errors<=0% holds") {
		t.Fatalf("exit code %d: %s%s", r.code, r.err, r.out)
	}
	a, err := runlog.Analyze(t.Context(), log+".csv.zst", nil, (&reports.AnalysisFlags{}).Options())
	if err != nil || a.End != "completed" || a.Operations[len(a.Operations)-1].Clients != 2 {
		t.Errorf("%v, %+v", err, a)
	}
}

// A fleet compares its two sides as one machine does.
func TestABOverAFleet(t *testing.T) {
	t.Parallel()
	store := delayedStore(t, time.Millisecond)
	r := runTrial(t, "--pairs=1", "--pause=1s", "--a=--concurrent=1", "--b=--concurrent=3", "get", "--host="+store, "--warp-client="+twoClients(t), "--warp-client-wait=60s",
		"--obj.size=1KiB", "--objects=5", "--duration=500ms")
	v := &r.verdicts
	if r.code != 0 || v.Before.Runs != 1 || v.After.Runs != 1 || v.Parameters[0].Name != "concurrent" {
		t.Fatalf("%s", r)
	}
	if v.Before.Name != "concurrent=1" || v.After.Name != "concurrent=3" {
		t.Errorf("the sides are %s and %s", v.Before.Name, v.After.Name)
	}
	if !strings.Contains(r.err, "warning: 1 pair cannot get a verdict: use --pairs=7, which takes at least 20s\n") || !strings.Contains(r.err, ", concurrent=3: ") {
		t.Errorf("%s", r.err)
	}
	for _, side := range []string{"a", "b"} {
		a, err := runlog.Analyze(t.Context(), filepath.Join(r.dir, "logs", side, "001.csv.zst"), nil, (&reports.AnalysisFlags{}).Options())
		if err != nil || len(a.Operations) == 0 || a.Operations[len(a.Operations)-1].Clients != 2 {
			t.Errorf("side %s: %v, %+v", side, err, a)
		}
	}
}

// Three sides: the slow one is worse than the first, the other one is not, and each second round mirrors the one before it.
func TestABOfThreeSides(t *testing.T) {
	t.Parallel()
	fast, slow := delayedStore(t, time.Millisecond), delayedStore(t, 25*time.Millisecond)
	r := runTrial(t, "--judge=p50", "--min-effect=50%", "--pairs=8", "--a=--host="+fast, "--b=--host="+fast+" --noprefix", "--c=--host="+slow, "--assert=p50.change<+50%",
		"get", "--obj.size=1KiB", "--objects=5", "--concurrent=1", "--duration=500ms")
	var c compare.Comparisons
	if err := json.Unmarshal([]byte(r.out), &c); err != nil || len(c.Comparisons) != 2 || c.Kind != "comparisons" {
		t.Fatalf("%v: %s", err, r)
	}
	for _, v := range c.Comparisons {
		r.verdicts.Withheld = append(r.verdicts.Withheld, v.Withheld...)
	}
	r.skipIfBusy(t)
	same, _ := c.Comparisons[0].Row("GET", "p50")
	slower, _ := c.Comparisons[1].Row("GET", "p50")
	if r.code != exit.Assertion || c.Together != 2 || slower.Verdict != compare.Worse || same.Verdict == compare.Worse || len(slower.After.Values) != 8 || c.Comparisons[1].After.Runs != 8 {
		t.Fatalf("%s", r)
	}
	order := c.Comparisons[0].Order
	if len(order) != 24 || order != c.Comparisons[1].Order {
		t.Fatalf("the order is %s", order)
	}
	for rounds := range slices.Chunk([]byte(order), 6) {
		mirrored := slices.Clone(rounds[:3])
		slices.Reverse(mirrored)
		if !slices.Equal(mirrored, rounds[3:]) {
			t.Errorf("of the order %s, %s is not followed by its mirror image", order, rounds[:3])
		}
	}
}
