// Package cli is the command line of warp: commands, flags, terminal, files
// and exit codes. Only it and the rooms below it print.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"warp/cli/command"
	"warp/cli/commands"
	"warp/cli/commands/suite"
	"warp/cli/exit"
	"warp/cli/process"
	"warp/cli/terminal"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/pkg/bench"
	"warp/pkg/store"
)

// Main runs warp with the given arguments, the first of which is the name of
// the program, and returns its exit code. A first SIGINT or SIGTERM cancels
// the context of the command with [bench.ErrInterrupted], so that it can save and
// clean up; a second one ends the process at once.
func Main(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	// A reader that has seen enough, such as head, must not end warp before it
	// has cleaned up: writing to it becomes an error instead.
	signal.Ignore(syscall.SIGPIPE)
	// net/http logs remarks about idle connections there. They are not errors of requests.
	log.SetOutput(io.Discard)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if out == os.Stdout && closedOutput() {
		out = noOutput{}
	}
	a := &app{in: in, out: out, errw: errw, env: os.LookupEnv, signals: signals, exit: os.Exit}
	return a.main(ctx, args[min(1, len(args)):])
}

// noOutput is standard output that is closed.
type noOutput struct{}

var errNoOutput = errors.New("standard output is closed: leave out >&-, or discard it with >/dev/null")

func (noOutput) Write([]byte) (int, error) { return 0, errNoOutput }

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

// main runs one command line, without the program's name.
func (a *app) main(ctx context.Context, args []string) int {
	hide := redact.New(args, a.env)
	a.hangups = process.NewHangups()
	defer a.hangups.End()
	err := a.dispatch(ctx, args, hide)
	// Ctrl-C is not an error.
	if err != nil && err != bench.ErrInterrupted {
		console.PrintError(a.errw, hide, err, terminal.Columns(a.errw, a.env))
	}
	return exit.Code(err)
}

// dispatch runs the command of the command line, or shows its help, version or completions.
func (a *app) dispatch(ctx context.Context, args []string, hide *redact.Redactor) error {
	if len(args) > 0 && args[0] == command.CompleteWord {
		return printLines(a.out, a.table().Complete(args[1:]))
	}
	if len(args) > 0 && args[0] == command.ManWord {
		page, err := a.table().ManPage(args[1:])
		if err != nil {
			return err
		}
		_, err = io.WriteString(a.out, page)
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return a.table().Run(ctx, args, a.out, terminal.Columns(a.out, a.env), func(ctx context.Context, line *command.Line) error {
		if line.Command.Name == suite.Command {
			a.suite = true
			return a.runFile(ctx, cancel, line, args, hide)
		}
		return a.run(ctx, cancel, line, args, hide)
	})
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
	go func() {
		defer close(ended)
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
			if n++; n > 1 {
				con.PrintLastWarning()
				con.Close()
				a.exit(exit.Interrupted)
				return
			}
			cancel(bench.ErrInterrupted)
			// Not here: a terminal that is stopped, or a pipe that nobody reads,
			// must not keep the second signal from being seen.
			go con.Notef("interrupted; finishing up (a second Ctrl-C quits at once)")
		}
	}()
	return func() { close(done); <-ended }
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

func printLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// interrupted replaces the plain "context canceled" by the reason for it, so
// that the exit code shows an interruption, not a failure.
func interrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), bench.ErrInterrupted) && (errors.Is(err, context.Canceled) || store.CodeOf(err) == store.CodeCanceled) {
		return bench.ErrInterrupted
	}
	return err
}
