// Package process runs other programs, in process groups that end with warp, and handles SIGHUP in this one.
package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// onThread calls f on a thread of its own: the kernel ties a child to the thread
// that starts it.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- f()
	}()
	return <-done
}

// Shell returns a command for the shell.
func Shell(ctx context.Context, text string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/C", text)
	}
	return exec.CommandContext(ctx, "sh", "-c", text)
}

// Run runs c in a process group of its own.
func Run(c *exec.Cmd) error {
	c.SysProcAttr = childAttributes()
	return onThread(c.Run)
}

// RunGroup runs a shell command in a process group of its own, and leaves nothing of
// the group when it returns. If ctx ends, the group has the grace to end.
func RunGroup(ctx context.Context, text string, output io.Writer, grace time.Duration) error {
	c := Shell(ctx, text)
	c.SysProcAttr, c.WaitDelay, c.Stdout, c.Stderr = childAttributes(), grace, output, output
	c.Cancel = func() error { return endGroup(c.Process) }
	err := onThread(func() error {
		if err := c.Start(); err != nil {
			return err
		}
		err := c.Wait()
		killGroup(c.Process)
		return err
	})
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return nil // a process that it left behind keeps its output open
	}
	return err
}

// A Tail keeps the end of the output of a process.
type Tail struct{ buffer bytes.Buffer }

const maxTail = 4 << 10

func (t *Tail) Write(b []byte) (int, error) {
	t.buffer.Write(b)
	if over := t.buffer.Len() - maxTail; over > 0 {
		t.buffer.Next(over)
	}
	return len(b), nil
}

// Text returns the output that was kept.
func (t *Tail) Text() string { return strings.TrimSpace(t.buffer.String()) }

// Suffix returns the last line as the end of a message, ": " before it; "" if there is none.
func (t *Tail) Suffix() string {
	text := t.Text()
	if text == "" {
		return ""
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return ": " + strings.TrimPrefix(line, "warp: error: ")
}
