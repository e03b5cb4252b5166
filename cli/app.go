// Package cli is the command line of warp: commands, flags, terminal, files
// and exit codes. It is the only package that prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"warp/cli/console"
	"warp/cli/exit"
	"warp/cli/redact"
	"warp/pkg/bench"
	"warp/pkg/store"
)

// Main runs warp with the given arguments, of which the first is the name of
// the program, and returns its exit code. A first SIGINT or SIGTERM cancels
// the context of the command with [bench.ErrInterrupted], so that it can save and
// clean up; a second one ends the process at once.
func Main(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	// A reader that has seen enough, such as head, must not end warp before it
	// has cleaned up: writing to it becomes an error instead.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	a := &app{in: in, out: out, errw: errw, env: os.LookupEnv, signals: signals, exit: os.Exit}
	return a.main(ctx, args[min(1, len(args)):])
}

// An app is everything outside of the process that warp may touch.
type app struct {
	in        io.Reader
	out, errw io.Writer
	env       environment
	signals   <-chan os.Signal
	exit      func(code int) // for the second signal only

	hangups *hangups
	suite   bool // it runs the benchmarks of a file

	extra func(environment) []*command // more commands, for tests
}

// table lists the commands in the order of the help. It is made anew for each
// use, because the flags of a command point into a struct of its own.
func (a *app) table() []*command {
	table := commandTable(a.env)
	if a.extra != nil {
		table = append(table, a.extra(a.env)...)
	}
	for _, c := range table {
		if !c.bare {
			c.output = &outputFlags{}
			c.groups = append(c.groups, c.output.group())
		}
		if c.section == sectionBenchmark {
			// They have so many flags that the ones which are explained with
			// every other command are only named.
			for i, g := range c.groups {
				if g.title == groupAnalysis || g.title == groupOutput {
					c.groups[i] = flagGroup{title: g.title, also: g.all()}
				}
			}
		}
	}
	return table
}

// commandTable lists every command. A new one is one line here.
func commandTable(env environment) []*command {
	return append(benchmarkTable(env), []*command{
		analyzeCommand(),
		cmpCommand(),
		reportCommand(),
		mergeCommand(),
		exportCommand(),
		collectCommand(),
		cleanCommand(env),
		clientCommand(),
		calibrateCommand(),
		abCommand(env),
		baselineCommand(),
		runCommand(env),
		markCommand(),
		completionCommand(),
		nullStore(),
	}...)
}

// benchmarkTable lists the commands of the benchmarks.
func benchmarkTable(env environment) (table []*command) {
	for _, b := range benchmarks() {
		table = append(table, benchmarkCommand(env, b))
	}
	return append(table, scriptCommand(env))
}

// benchmarks is the table of the operations. A new one is a file in pkg/bench
// that does it, a file here that describes it, and a line in this table: help,
// completion, files for warp run, clients and names of operations follow.
func benchmarks() []benchmark {
	return []benchmark{
		getBenchmark(),
		putBenchmark(),
		deleteBenchmark(),
		listBenchmark(),
		statBenchmark(),
		mixedBenchmark(),
		versionedBenchmark(),
		retentionBenchmark(),
		zipBenchmark(),
		snowballBenchmark(),
		fanoutBenchmark(),
		multipartBenchmark(),
		multipartPutBenchmark(),
		copyBenchmark(),
		appendBenchmark(),
		taggingBenchmark(),
	}
}

// main runs one command line, without the program's name.
func (a *app) main(ctx context.Context, args []string) int {
	hide := redact.New(args, a.env)
	a.hangups = newHangups()
	defer a.hangups.end()
	err := a.dispatch(ctx, args, hide)
	// Whoever has pressed Ctrl-C need not be told that as an error.
	if err != nil && err != bench.ErrInterrupted {
		console.PrintError(a.errw, hide, err)
	}
	return exit.Code(err)
}

// dispatch does what the command line asks for, be it a command or not.
func (a *app) dispatch(ctx context.Context, args []string, hide *redact.Redactor) error {
	if len(args) > 0 && args[0] == completeWord {
		return printLines(a.out, complete(a.table(), args[1:]))
	}
	if len(args) > 0 && args[0] == manWord {
		page, err := manPage(a.table(), args[1:])
		if err != nil {
			return err
		}
		_, err = io.WriteString(a.out, page)
		return err
	}
	line := scan(a.table(), args)
	switch {
	case line.version && !line.help && line.unknown != "":
		return exit.Usagef("warp version takes no arguments, but got %q", line.unknown)
	case line.version && !line.help:
		return printLines(a.out, []string{thisBuild().String()})
	case line.help && line.unknown != "":
		return unknownCommand(line.table, line.unknown)
	case line.help, len(args) == 0:
		_, err := io.WriteString(a.out, line.helpText())
		return err
	case line.install:
		return installCompletion(a.env, a.out)
	}
	if err := line.parse(a.env); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if line.command.name == runName {
		a.suite = true
		return a.runFile(ctx, cancel, line, args, hide)
	}
	return a.run(ctx, cancel, line, args, hide)
}

// run starts the command of a parsed command line. A signal cancels ctx.
func (a *app) run(ctx context.Context, cancel context.CancelCauseFunc, line *commandLine, args []string, hide *redact.Redactor) error {
	inv := a.invocation(line.command, line.arguments(), args, hide)
	inv.forwardedArgs = line.forwardedArgs()
	stop := a.watchSignals(cancel, inv.Console)
	defer stop()
	defer inv.Close() // after a panic, too
	defer inv.WatchSuspension()()
	return interrupted(ctx, line.command.run(ctx, inv))
}

func (a *app) console(o console.Options, hide *redact.Redactor) *console.Console {
	return console.New(console.Streams{In: a.in, Out: a.out, Err: a.errw}, a.env, o, hide)
}

// invocation puts together what the command is run with.
func (a *app) invocation(c *command, positional, args []string, hide *redact.Redactor) *invocation {
	output := c.output
	if output == nil {
		output = &outputFlags{}
	}
	inv := &invocation{
		Console: a.console(output.Options, hide),
		command: c,
		args:    positional,
		line:    redact.Quote(append([]string{"warp"}, redact.Args(args)...)),
		env:     a.env,
		in:      a.in,
		hangups: a.hangups,
		suite:   a.suite,
	}
	// What the environment gives is secret wherever it turns up.
	inv.line = hide.Text(inv.line)
	inv.Debugf("%s", thisBuild())
	inv.Debugf("command line: %s", inv.line)
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
			case <-a.hangups.signals:
				// A shell may pass on what its terminal has sent already.
				if a.hungUp(con) || n > 0 {
					continue
				}
			}
			if n++; n > 1 {
				con.SayParting()
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
	if a.hangups.closed() {
		return false
	}
	state := a.hangups.toggle()
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
// that the exit code tells an interruption from a failure.
func interrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), bench.ErrInterrupted) && (errors.Is(err, context.Canceled) || store.CodeOf(err) == store.CodeCanceled) {
		return bench.ErrInterrupted
	}
	return err
}
