//go:build !windows

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/internal/check"
)

// TestMarkSignal: SIGUSR1 ends no run, and sets a
// numbered mark.
func TestMarkSignal(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("warp")
	check.OK(t, err)
	env := runtimeFolder(t)
	log := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(path, "stat", "--host=embedded", "--obj.size=1KiB", "--objects=10", "--concurrent=1", "--rps-limit=100", "--benchdata="+log, "--json", "--quiet")
	cmd.Env = append(cmd.Environ(), "XDG_RUNTIME_DIR="+env["XDG_RUNTIME_DIR"])
	var out strings.Builder
	cmd.Stdout = &out
	check.OK(t, cmd.Start())
	defer time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	id := runID(t, env)
	for i, text := range []string{"by hand", "signals"} {
		if r := markWhenMeasured(t, env, id, text); r.code != exit.OK {
			t.Fatalf("exit code %d: %s", r.code, r.err)
		}
		if i == 0 {
			_ = cmd.Process.Signal(syscall.SIGUSR1)
		}
	}
	// A signal takes its time.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if r := runWarp(t, nil, "analyze", "--json", log+".csv.zst.part"); strings.Contains(r.out, "SIGUSR1 number 1") {
			break
		}
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	var texts []string
	for _, m := range marksOf(t, out.String()) {
		texts = append(texts, m.Text)
	}
	slices.Sort(texts)
	if want := []string{"SIGUSR1 number 1", "by hand", "signals"}; !slices.Equal(texts, want) {
		t.Errorf("marks %q, want %q", texts, want)
	}
}

// A run that warp mark cannot reach says why.
func TestMarkFolderIsALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check.OK(t, os.Symlink(t.TempDir(), filepath.Join(dir, "warp")))
	r := runWarp(t, map[string]string{"XDG_RUNTIME_DIR": dir}, "put", "--host=embedded", "--obj.size=1KiB", "--max-objects=3", "--benchdata="+filepath.Join(dir, "run"))
	if want := "warp: warp mark cannot reach this run: " + filepath.Join(dir, "warp") + " is a link, not a folder\n"; r.code != exit.OK || strings.Count(r.err, want) != 1 {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}
