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
	"warp/cli/commands/suite"
	"warp/cli/exit"
	"warp/cli/process"
	"warp/cli/terminal"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/pkg/bench"
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

func printLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
