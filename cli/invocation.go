package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"warp/cli/command"
	"warp/cli/commands"
	"warp/cli/exit"
	"warp/cli/process"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/pkg/bench"
	"warp/pkg/store"
)

// An app is everything outside of the process that warp may touch.
type app struct {
	in        io.Reader
	out, errw io.Writer
	env       command.Environment
	signals   <-chan os.Signal
	exit      func(code int) // for the second signal only

	hangups *process.Hangups
	suite   bool // it runs the benchmarks of a file

	extra func(command.Environment) []*command.Command // more commands, for tests
}

// table lists the commands. It is made for each use, because the flags of a command point into a struct of its own.
func (a *app) table() *command.Table {
	var extra []*command.Command
	if a.extra != nil {
		extra = a.extra(a.env)
	}
	table := commands.Table(a.env, append(extra, versionCommand())...)
	table.Install = func() error { return commands.InstallCompletion(a.env, a.out) }
	this := thisBuild()
	table.Version, table.Date = this.version, this.date
	return table
}

// run starts the command of a parsed command line. A signal cancels ctx.
func (a *app) run(ctx context.Context, cancel context.CancelCauseFunc, line *command.Line, args []string, hide *redact.Redactor) error {
	inv := a.invocation(line.Command, line.Args, args, hide)
	inv.ForwardedArgs = line.ForwardedArgs()
	stop := a.watchSignals(cancel, inv.Console)
	defer stop()
	defer inv.Close() // after a panic, too
	defer inv.WatchSuspension()()
	return interrupted(ctx, line.Command.Run(ctx, inv))
}

func (a *app) console(o console.Options, hide *redact.Redactor) *console.Console {
	return console.New(console.Streams{In: a.in, Out: a.out, Err: a.errw}, a.env, o, hide)
}

// invocation returns the environment in which the command runs.
func (a *app) invocation(c *command.Command, positional, args []string, hide *redact.Redactor) *command.Invocation {
	output := console.Options{}
	if c.Output != nil {
		output = *c.Output
	}
	inv := &command.Invocation{
		Console: a.console(output, hide),
		Command: c,
		Args:    positional,
		Line:    redact.Quote(append([]string{"warp"}, redact.Args(args)...)),
		Version: thisBuild().version,
		Env:     a.env,
		In:      a.in,
		Hangups: a.hangups,
		Suite:   a.suite,
	}
	// Secrets of the environment are hidden everywhere.
	inv.Line = hide.Text(inv.Line)
	inv.Debugf("%s", thisBuild())
	inv.Debugf("command line: %s", inv.Line)
	return inv
}

// watchSignals cancels the command at the first signal and ends the process at
// the second; a terminal that is closed counts as the first. The returned
// function ends the watch.
func (a *app) watchSignals(cancel context.CancelCauseFunc, con *console.Console) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	parent := os.Getppid()
	go func() {
		defer close(ended)
		var first time.Time
		for n := 0; ; {
			select {
			case <-done:
				return
			case <-a.signals:
			case <-a.hangups.Signals:
				// A shell may pass on what its terminal has sent already.
				if a.hungUp(con) || n > 0 {
					continue
				}
			}
			if n > 0 && time.Since(first) < time.Second && parentDies(parent, done) {
				continue
			}
			if n++; n > 1 {
				con.PrintLastWarning()
				con.Close()
				a.exit(exit.Interrupted)
				return
			}
			first = time.Now()
			cancel(bench.ErrInterrupted)
			// Not here: a terminal that is stopped, or a pipe that nobody reads,
			// must not keep the second signal from being seen.
			go con.Notef("interrupted; finishing up (a second Ctrl-C quits at once)")
		}
	}()
	return func() { close(done); <-ended }
}

// parentDies reports whether a signal that is repeated at once comes from the death of the parent, and not from a person who
// wants to quit at once. Linux sends the signal of a dying parent again for each of its threads to which the child was handed
// over before that one ended, too. The parent ends a moment later.
func parentDies(parent int, done <-chan struct{}) bool {
	for range 10 {
		if os.Getppid() != parent {
			return true
		}
		select {
		case <-done:
			return true
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// hungUp toggles the tracing of HTTP, unless the signal is about the terminal.
func (a *app) hungUp(con *console.Console) (toggled bool) {
	if a.hangups.Closed() {
		return false
	}
	state := a.hangups.Toggle()
	// Not here, for the same reason.
	go con.Notef("HTTP tracing is %s", state)
	return true
}

// interrupted replaces the plain "context canceled" by the reason for it, so
// that the exit code shows an interruption, not a failure.
func interrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), bench.ErrInterrupted) && (errors.Is(err, context.Canceled) || store.CodeOf(err) == store.CodeCanceled) {
		return bench.ErrInterrupted
	}
	return err
}
