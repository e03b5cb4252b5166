package session

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
	// rowsMemory bounds the rows that wait for a slow reader of --stdout: some 300,000.
	rowsMemory = 64 << 20
	// rowsTimeout is how long the reader may read nothing after the run.
	rowsTimeout = 30 * time.Second
	// rowsGrace is the same after Ctrl-C: enough for a reader that reads.
	rowsGrace = 3 * time.Second
)

// CheckStdout returns an error for flags that also write to standard output.
func (f *RunFlags) CheckStdout(json bool) error {
	if f.Stdout && json {
		return exit.Usagef("--stdout and --json cannot be combined: both write to standard output").WithHint("make the JSON report of the log with warp analyze --json")
	}
	return nil
}

// openRows starts to write rows to standard output, and redirects everything else
// to standard error. It returns nil without --stdout. The rows of a fleet come from
// files, in bursts, and wait there for a slow reader.
func (s *Session) openRows() *sink.Rows {
	if !s.Flags.Stdout {
		return nil
	}
	fleet := s.Flags.Fleet.Clients != ""
	return sink.NewRows(s.TakeOut(), sink.RowsOptions{
		Script: s.Options.Benchmark == "script", Max: rowsMemory, Wait: fleet, Timeout: rowsTimeout, Grace: rowsGrace,
		Warn: func(text string) { s.Warnf("--stdout: %s", text) },
		Waiting: func() {
			s.Notef("waiting for the reader of --stdout, until it has read nothing for %s (Ctrl-C stops waiting)", human.Duration(rowsTimeout))
		},
	})
}

// closeRows waits for the reader of the rows. More rows may come until
// rest returns. Missing rows are a note for the report, and an error.
func (s *Session) closeRows(ctx context.Context, rest func()) (notes []string, err error) {
	if s.rows == nil {
		return nil, nil
	}
	lost := s.rows.Close(ctx, rest)
	if lost == "" {
		return nil, nil
	}
	return []string{"--stdout: " + lost}, exit.Errorf("--stdout: %s", lost)
}

// withRows adds the error about missing rows to a verdict. An interruption
// keeps its exit code.
func withRows(verdict, incomplete error) error {
	if errors.Is(verdict, bench.ErrInterrupted) {
		return verdict
	}
	return exit.Join(verdict, incomplete)
}
