package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/results"
	"warp/pkg/s3mem"
)

// runtimeFolder is an environment in which warp mark finds the runs of one test
// only. Its path is short, because the path of a socket must be.
func runtimeFolder(t *testing.T) map[string]string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wm")
	check.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return map[string]string{"XDG_RUNTIME_DIR": dir}
}

// runID is the run whose socket is in the folder of the environment.
func runID(t *testing.T, env map[string]string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		sockets, _ := filepath.Glob(filepath.Join(env["XDG_RUNTIME_DIR"], "warp", "*.sock"))
		if len(sockets) > 0 {
			id, _, _ := strings.Cut(filepath.Base(sockets[0]), ".")
			return id
		}
	}
	t.Fatal("no run listens")
	return ""
}

// markWhenMeasured sets the mark as soon as the run takes it.
func markWhenMeasured(t *testing.T, env map[string]string, id, text string) result {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		r := runWarp(t, env, "mark", id, text)
		if r.code == exit.OK || time.Now().After(deadline) || !strings.Contains(r.err, "not being measured now") {
			return r
		}
	}
}

func marksOf(t *testing.T, document string) []results.MarkReport {
	t.Helper()
	var r results.Report
	if err := json.Unmarshal([]byte(document), &r); err != nil {
		t.Fatalf("%v in %.300s", err, document)
	}
	return r.Marks
}

// TestMarkCommand freezes a store during a run that is marked by warp mark. What
// the run reports is what analyze makes of its log.
func TestMarkCommand(t *testing.T) {
	t.Parallel()
	env := runtimeFolder(t)
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = mem.Close() })
	store := teststore.NewProxy(t, mem.Addr())
	log := filepath.Join(t.TempDir(), "run")
	var run result
	done := make(chan struct{})
	go func() {
		defer close(done)
		run = runWarp(t, env, "put", "--host="+store.Endpoint, "--access-key=testkey", "--secret-key=testsecret",
			"--obj.size=1KiB", "--concurrent=4", "--rps-limit=100", "--duration=9s", "--benchdata="+log, "--json")
	}()
	id := runID(t, env)
	if r := markWhenMeasured(t, env, id, "warm-up"); r.code != exit.OK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	time.Sleep(1500 * time.Millisecond)
	r := runWarp(t, env, "mark", id, "disk \x1b[31mpulled", "--json")
	store.Freeze(2 * time.Second)
	var set struct{ Run, At, Text string }
	if err := json.Unmarshal([]byte(r.out), &set); err != nil || r.code != exit.OK || set.Run != id || set.Text != "disk  [31mpulled" {
		t.Errorf("exit code %d, %v: %s %s", r.code, err, r.out, r.err)
	}
	if r := runWarp(t, env, "mark", "nobody", "text"); r.code != exit.Failed || !strings.Contains(r.err, `there is no run "nobody"; there is `) {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	<-done
	if run.code != exit.OK {
		t.Fatalf("exit code %d: %s", run.code, run.err)
	}
	marks := marksOf(t, run.out)
	if len(marks) != 2 || marks[1].Text != set.Text || marks[1].At.Format(time.RFC3339Nano) != set.At {
		t.Fatalf("marks %+v, set %+v", marks, set)
	}
	m := marks[1]
	calm := m.Before.Requests > 50 // of those due, or this machine stalled before the store froze
	if m.LongestGapS == nil || *m.LongestGapS < 1.5 || calm && (m.RecoveryS != nil && *m.RecoveryS < 1 || m.During == nil) {
		text, _ := json.Marshal(m)
		t.Errorf("%s", text)
	}
	analyzed := runWarp(t, nil, "analyze", "--json", log+".csv.zst")
	want, _ := json.Marshal(marks)
	if got, _ := json.Marshal(marksOf(t, analyzed.out)); string(got) != string(want) {
		t.Errorf("analyze has\n%s, the run\n%s", got, want)
	}
	if sockets, _ := filepath.Glob(filepath.Join(env["XDG_RUNTIME_DIR"], "warp", "*")); len(sockets) > 0 {
		t.Errorf("left behind: %q", sockets)
	}
}
