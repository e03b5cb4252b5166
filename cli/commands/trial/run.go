package trial

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/cli/process"
)

// setupTimeout bounds a setup command.
const setupTimeout = 10 * time.Minute

// childGrace is how long an interrupted run may take to save its log and to
// clean up before it is killed.
const childGrace = 2 * time.Minute

// prepare runs the side's hook.
func (t *Trial) prepare(ctx context.Context, side int) error {
	if t.Sides[side].Setup == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	hook := process.Shell(limited, t.Sides[side].Setup)
	said := &process.Tail{}
	hook.Stdout, hook.Stderr, hook.WaitDelay = said, said, time.Second
	flag := "--" + string("ab"[side]) + "-setup"
	switch err := hook.Run(); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return exit.Errorf("%s took longer than %v", flag, setupTimeout)
	default:
		return exit.Errorf("%s: %w%s", flag, err, said.Suffix())
	}
}

// child runs the benchmark of a side in a process of its own, so that no run inherits
// memory, connections or a tuned garbage collector from another.
func (t *Trial) child(ctx context.Context, side int, path string) error {
	self, err := os.Executable()
	if err != nil {
		return exit.Errorf("cannot start a run: %w", err)
	}
	what := &t.Sides[side]
	c := exec.CommandContext(ctx, self, append(slices.Clone(what.Args), "--benchdata="+path, "--json", "--quiet")...)
	c.Stdin = strings.NewReader(what.In)
	c.WaitDelay = childGrace
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	said := &process.Tail{}
	c.Stderr = said
	err = process.Run(c)
	t.inv.Debugf("run of %s: %s", t.names[side], said.Text())
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	case errors.As(err, &ended) && (ended.ExitCode() == exit.Requests || ended.ExitCode() == exit.Assertion || ended.ExitCode() == exit.Undecided):
		return nil // the log is there, and says what has failed
	}
	return exit.Errorf("a run of side %c (%s) failed: %w%s", "ab"[side], t.names[side], err, said.Suffix())
}
