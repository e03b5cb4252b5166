package cli

import (
	"cmp"
	"context"
	"fmt"

	"warp/cli/command"
	"warp/cli/commands"
	"warp/cli/commands/suite"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/internal/human"
	"warp/pkg/bench"
)

// runFile runs the benchmarks of a file in order. All of them are checked before the first one begins; the first that
// fails is the last. After a signal, which cancels ctx, no other one begins.
func (a *app) runFile(ctx context.Context, cancel context.CancelCauseFunc, line *command.Line, args []string, hide *redact.Redactor) error {
	stop := a.watchSignals(cancel, a.console(console.Options{}, hide))
	runs, err := a.planFile(ctx, line, hide)
	stop()
	if err != nil {
		return err
	}
	for i, r := range runs {
		if context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if len(runs) > 1 {
			a.console(runs[i].Output(), hide).Notef("benchmark %d of %d: %s (%s:%d)", i+1, len(runs), r.Name, r.File, r.Line)
		}
		// Whether it would begin was tried on flags that it may have changed.
		err := r.Parse(a.table(), line.Flags)
		if err == nil {
			err = a.run(ctx, cancel, cmp.Or(r.Sweep, r.Parsed), args, hide)
		}
		if err != nil {
			err = r.Explain(err)
			if left := len(runs) - i - 1; left > 0 && err != bench.ErrInterrupted {
				err = fmt.Errorf("%w (the %s after it did not run)", err, human.Plural(left, "benchmark"))
			}
			return err
		}
	}
	return nil
}

// planFile finds out whether the benchmarks of a file would begin.
func (a *app) planFile(ctx context.Context, line *command.Line, hide *redact.Redactor) ([]*suite.Benchmark, error) {
	file, err := suite.Read(ctx, line, a.in, hide, a.console(console.Options{}, hide).Warnf)
	if err != nil {
		return nil, err
	}
	runs := make([]*suite.Benchmark, len(file.Benchmarks))
	for i, b := range file.Benchmarks {
		runs[i] = &suite.Benchmark{Benchmark: b, File: file.Name}
		err := runs[i].Parse(a.table(), line.Flags)
		if err == nil {
			c := runs[i].Parsed.Command
			err = c.Check(c.Output.JSON)
			if err == nil && runs[i].Sweep != nil {
				err = commands.CheckSweep(a.env, runs[i].Sweep)
			}
		}
		if err != nil {
			return nil, runs[i].Explain(err)
		}
	}
	return runs, suite.Differ(runs)
}
