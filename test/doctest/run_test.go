package doctest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/test/testbinary"
)

var (
	stores teststore.Pool
	binary string // warp, built once
)

func TestMain(m *testing.M) {
	os.Exit(testbinary.Run(func(warp string) int {
		binary = warp
		return stores.Run(m)
	}))
}

// workplace returns a directory with warp in it, as after make build.
func workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	check.OK(t, os.Symlink(binary, filepath.Join(dir, "warp")))
	fly, err := filepath.Abs(filepath.Join(root, "fly"))
	check.OK(t, err)
	check.OK(t, os.Symlink(fly, filepath.Join(dir, "fly")))
	return dir
}

// A result is the result of a command.
type result struct {
	code             int
	out, errout, all string
}

// limit is much longer than any documented command needs.
const limit = 2 * time.Minute

// run runs a command without the developer's own settings for a store.
func run(t *testing.T, dir string, env []string, name string, args ...string) result {
	t.Helper()
	r, err := start(t, dir, env, name, args...).wait()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return r
}

type running struct {
	cmd         *exec.Cmd
	out, errout bytes.Buffer
	both        bytes.Buffer
	cancel      context.CancelFunc
}

func start(t *testing.T, dir string, env []string, name string, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	r := &running{cmd: exec.CommandContext(ctx, name, args...), cancel: cancel}
	r.cmd.Dir = dir
	r.cmd.WaitDelay = 5 * time.Second
	r.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TZ=UTC", "XDG_RUNTIME_DIR=" + runtimeFolder(t)}, env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errout
	if name == "sh" { // as shown to a user
		r.cmd.Stdout, r.cmd.Stderr = &r.both, &r.both
	}
	if err := r.cmd.Start(); err != nil {
		cancel()
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return r
}

// runtimeFolder returns a directory in which warp mark finds no runs of other tests. Its path is
// short, because paths of sockets have to be.
func runtimeFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt")
	check.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (r *running) wait() (result, error) {
	defer r.cancel()
	err := r.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		err = nil
	}
	return result{r.cmd.ProcessState.ExitCode(), r.out.String(), r.errout.String(), r.both.String()}, err
}

// warp runs warp with arguments.
func warp(t *testing.T, dir string, args ...string) result {
	t.Helper()
	return run(t, dir, nil, binary, args...)
}

// mustWarp runs warp and checks its exit code.
func mustWarp(t *testing.T, code int, dir string, args ...string) result {
	t.Helper()
	r := warp(t, dir, args...)
	if r.code != code {
		t.Fatalf("warp %q: exit code %d instead of %d\n%s%s", args, r.code, code, r.out, r.errout)
	}
	return r
}
