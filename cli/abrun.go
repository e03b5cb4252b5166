package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"warp/cli/exit"
)

// childGrace is how long an interrupted run may take to save its log and to
// clean up before it is killed.
const childGrace = 2 * time.Minute

// prepare runs the side's hook.
func (t *trial) prepare(ctx context.Context, side int) error {
	if t.sides[side].setup == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	hook := shellCommand(limited, t.sides[side].setup)
	said := &lastLines{}
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
		return exit.Errorf("%s: %w%s", flag, err, said.after())
	}
}

func shellCommand(ctx context.Context, text string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/C", text)
	}
	return exec.CommandContext(ctx, "sh", "-c", text)
}

// child runs the benchmark of a side as a process of its own: so no run finds
// memory, connections or a tuned collector that another one has left, and the
// log is made as it is by any run.
func (t *trial) child(ctx context.Context, side int, path string) error {
	self, err := os.Executable()
	if err != nil {
		return exit.Errorf("cannot start a run: %w", err)
	}
	what := &t.sides[side]
	c := exec.CommandContext(ctx, self, append(slices.Clone(what.args), "--benchdata="+path, "--json", "--quiet")...)
	c.Stdin = strings.NewReader(what.in)
	c.SysProcAttr, c.WaitDelay = childAttributes(), childGrace
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	said := &lastLines{}
	c.Stderr = said
	done := make(chan error, 1)
	go func() {
		// The kernel ties the child to the thread that starts it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- c.Run()
	}()
	err = <-done
	t.inv.Debugf("run of side %c: %s", "ab"[side], said.text())
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	case errors.As(err, &ended) && (ended.ExitCode() == exit.Requests || ended.ExitCode() == exit.Assertion || ended.ExitCode() == exit.Undecided):
		return nil // the log is there, and says what has failed
	}
	return exit.Errorf("a run of side %c failed: %w%s", "ab"[side], err, said.after())
}

// lastLines keeps the end of what a process says.
type lastLines struct{ bytes.Buffer }

const maxSaid = 4 << 10

func (l *lastLines) Write(b []byte) (int, error) {
	l.Buffer.Write(b)
	if over := l.Len() - maxSaid; over > 0 {
		l.Next(over)
	}
	return len(b), nil
}

func (l *lastLines) text() string { return strings.TrimSpace(l.String()) }

// after is the last line as the end of a message.
func (l *lastLines) after() string {
	text := l.text()
	if text == "" {
		return ""
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return ": " + strings.TrimPrefix(line, "warp: error: ")
}
