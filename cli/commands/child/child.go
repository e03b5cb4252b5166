// Package child runs a benchmark in a process of its own, as one of a series, so that no run inherits memory, connections or
// a tuned garbage collector from another.
package child

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/process"
	"warp/cli/terminal/redact"
)

// grace is how long an interrupted run may take to save its log and to clean up before it is killed.
const grace = 2 * time.Minute

// A Run is a command line of warp that makes one run.
type Run struct {
	Name string   // in messages
	Args []string // of warp
	In   string   // standard input
	Env  []string // NAME=VALUE, besides the environment of this process
}

// Hide returns a run whose secrets are in its environment, because other users can read command lines. line is the same command
// line, parsed.
func Hide(line *command.Line, args []string) (r Run) {
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if f := line.Command.Lookup(name); f != nil && redact.IsSecret(name) {
			if variables := command.Variables(f); len(variables) > 0 {
				r.Env = append(r.Env, variables[0]+"="+value)
				continue
			}
		}
		r.Args = append(r.Args, arg)
	}
	return r
}

// Measure makes the run. Its op log goes to path. Failed requests and assertions are no error: the log says what has failed.
func Measure(ctx context.Context, inv *command.Invocation, r Run, path string) error {
	c, said, err := r.process(ctx, "--benchdata="+path, "--json", "--quiet")
	if err != nil {
		return err
	}
	c.Stdin = strings.NewReader(r.In)
	err = process.Run(c)
	inv.Debugf("run of %s: %s", r.Name, said.Text())
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	case errors.As(err, &ended) && slices.Contains([]int{exit.Requests, exit.Assertion, exit.Undecided}, ended.ExitCode()):
		return nil
	}
	return exit.Errorf("a run of %s failed: %w%s", r.Name, err, said.Suffix())
}

// process returns a process of this program for the run, with more arguments. The end of ctx interrupts it.
func (r *Run) process(ctx context.Context, more ...string) (*exec.Cmd, *process.Tail, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, exit.Errorf("cannot start a run: %w", err)
	}
	c := exec.CommandContext(ctx, self, append(slices.Clone(r.Args), more...)...)
	c.Env = append(os.Environ(), r.Env...)
	c.WaitDelay = grace
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	said := &process.Tail{}
	c.Stderr = said
	return c, said, nil
}
