package cli

import (
	"context"
	"errors"
	"time"

	"warp/cli/exit"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/sink"
)

const (
	// rowsMemory is what may wait for a slow reader of --stdout: some 300,000 rows.
	rowsMemory = 64 << 20
	// rowsTimeout is how long the reader may take nothing after the run.
	rowsTimeout = 30 * time.Second
	// rowsGrace is what is left for it after Ctrl-C: enough for one that reads, and nobody minds with one that does not.
	rowsGrace = 3 * time.Second
)

// checkStdout refuses what would be on standard output too.
func (f *benchFlags) checkStdout(json bool) error {
	if f.stdout && json {
		return exit.Usagef("--stdout writes rows and --json the report to standard output").WithHint("leave out one of them; warp analyze --json makes the report of the log")
	}
	return nil
}

// openRows begins to write rows to standard output, and turns what would be
// there otherwise to standard error; nil without --stdout. Those of a fleet come
// out of files, in bursts, and wait there for a reader that is not that fast.
func (s *session) openRows() *sink.Rows {
	if !s.flags.stdout {
		return nil
	}
	fleet := s.flags.fleet.Clients != ""
	return sink.NewRows(s.TakeOut(), sink.RowsOptions{
		Script: s.opts.Benchmark == "script", Max: rowsMemory, Wait: fleet, Timeout: rowsTimeout, Grace: rowsGrace,
		Warn: func(text string) { s.Warnf("--stdout: %s", text) },
		Waiting: func() {
			s.Notef("waiting for the reader of --stdout, until it takes nothing for %s (Ctrl-C ends that)", human.Duration(rowsTimeout))
		},
	})
}

// closeRows waits for the reader of the rows, of which there may be more until
// rest returns. What it lacks is a note for the report, and an error: who asked
// for rows did not get all of them.
func (s *session) closeRows(ctx context.Context, rest func()) (notes []string, err error) {
	if s.rows == nil {
		return nil, nil
	}
	lost := s.rows.Close(ctx, rest)
	if lost == "" {
		return nil, nil
	}
	return []string{"--stdout: " + lost}, exit.Errorf("--stdout: %s", lost)
}

// withRows adds to what is said of a run that rows are missing. An interruption
// has an exit code of its own.
func withRows(verdict, incomplete error) error {
	if errors.Is(verdict, bench.ErrInterrupted) {
		return verdict
	}
	return exit.Join(verdict, incomplete)
}
