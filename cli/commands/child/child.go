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
	"warp/cli/files/runlog"
	"warp/cli/files/series"
	"warp/cli/process"
	"warp/cli/terminal/redact"
	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/oplog/merge"
	"warp/pkg/results"
)

// grace is how long an interrupted run may take to save its log and to clean up before it is killed.
const grace = 2 * time.Minute

// A Command is a command line of warp that makes one run.
type Command struct {
	Name string   // in messages
	Args []string // of warp
	In   string   // standard input
	Env  []string // NAME=VALUE, in addition to the environment of this process
}

// Hide returns a run whose secrets are in its environment, because other users can read command lines. line is the same command
// line, parsed; name is its name in messages.
func Hide(name string, line *command.Line, args []string) Command {
	c := Command{Name: name}
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if f := line.Command.Lookup(name); f != nil && redact.IsSecret(name) {
			if variables := command.Variables(f); len(variables) > 0 {
				c.Env = append(c.Env, variables[0]+"="+value)
				continue
			}
		}
		c.Args = append(c.Args, arg)
	}
	return c
}

// Figures returns the main figures of a run in a few words.
func Figures(r *results.Report) string {
	f, ok := r.Total()
	if !ok {
		return "nothing was measured"
	}
	text := human.Throughput(f.BytesPerS, f.ObjectsPerS, f.HasBytes)
	if f.Duration != nil {
		text += ", 99%: " + human.Millis(f.Duration.P99)
	}
	return text
}

// Left says how long the other runs of a series take, to follow the figures of a run; "" if it was the last one. about is
// the precision, such as "about".
func Left(about string, left time.Duration) string {
	if left <= 0 {
		return ""
	}
	return "; " + about + " " + human.Duration(max(left.Round(time.Second), time.Second)) + " left"
}

// A FolderError is an error of a folder of runs, without which no other run can be made either.
type FolderError struct{ Err error }

func (e *FolderError) Error() string { return e.Err.Error() }

func (e *FolderError) Unwrap() error { return e.Err }

func folderFailed(err error) error {
	if err == nil {
		return nil
	}
	return &FolderError{err}
}

// Make makes a run of a folder, and reads its log. The folder has how it ended. prepare returns the command line; it is called
// when the run has begun.
func Make(ctx context.Context, inv *command.Invocation, f *series.Folder, r *series.Entry, o aggregate.Options, prepare func() (Command, error)) (*results.Report, error) {
	if err := f.Begin(r); err != nil {
		return nil, &FolderError{err}
	}
	var report *results.Report
	c, err := prepare()
	if err == nil {
		err = Measure(ctx, inv, c, f.LogPath(r))
	}
	if err == nil {
		report, err = readLog(ctx, f.LogPath(r), o)
	}
	switch {
	case err == nil:
		return report, folderFailed(f.Done(r))
	case ctx.Err() != nil:
		return nil, exit.Join(err, f.Abandon(r))
	}
	if failed := f.Failed(r, errors.New(inv.Hide.Text(err.Error()))); failed != nil {
		return nil, &FolderError{failed}
	}
	return nil, err
}

// Measure makes the run. Its op log goes to path. Failed requests and assertions are not errors: the log has them.
func Measure(ctx context.Context, inv *command.Invocation, c Command, path string) error {
	p, said, err := c.process(ctx, "--benchdata="+path, "--json", "--quiet")
	if err != nil {
		return err
	}
	p.Stdin = strings.NewReader(c.In)
	err = process.Run(p)
	inv.Debugf("run of %s: %s", c.Name, said.Text())
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	case errors.As(err, &ended) && slices.Contains([]int{exit.Requests, exit.Assertion, exit.Undecided}, ended.ExitCode()):
		return nil
	}
	return exit.Errorf("a run of %s failed: %w%s", c.Name, err, said.Suffix())
}

// readLog reads the log of a run that has ended, also if the end of ctx came in the meantime. A run that has lost a client is an
// error: its figures are about another load.
func readLog(ctx context.Context, path string, o aggregate.Options) (*results.Report, error) {
	r, err := runlog.Analyze(context.WithoutCancel(ctx), path, nil, o)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(r.Warnings, merge.IsLostShare); i >= 0 {
		return nil, exit.Errorf("%s", r.Warnings[i])
	}
	return r, nil
}

// process returns a process of this program for the run, with more arguments. The end of ctx interrupts it.
func (c *Command) process(ctx context.Context, more ...string) (*exec.Cmd, *process.Tail, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, exit.Errorf("cannot start a run: %w", err)
	}
	p := exec.CommandContext(ctx, self, append(slices.Clone(c.Args), more...)...)
	p.Env = append(os.Environ(), c.Env...)
	p.WaitDelay = grace
	p.Cancel = func() error { return p.Process.Signal(os.Interrupt) }
	said := &process.Tail{}
	p.Stderr = said
	return p, said, nil
}
