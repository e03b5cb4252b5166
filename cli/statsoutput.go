package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"warp/cli/console"
	"warp/cli/exit"
	"warp/cli/live"
	"warp/pkg/monitor"
)

// A statsFile takes the lines of progress of --stats-output, whatever the
// console shows.
type statsFile struct {
	*os.File
	session *session
	start   time.Time
	failed  error
}

// openStats makes the file; nil where there is none to make.
func (s *session) openStats(path string) (*statsFile, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, exit.Usagef("--stats-output: %s exists already", path).WithHint("choose another name or move it away")
	}
	if err != nil {
		return nil, exit.Errorf("--stats-output: %w", err)
	}
	return &statsFile{File: file, session: s}, nil
}

// begin writes lines until the returned function is called.
func (f *statsFile) begin(interval time.Duration) (stop func()) {
	if f == nil {
		return func() {}
	}
	f.start = time.Now()
	return live.Every(interval, func() { f.write(f.session.snapshot(), time.Since(f.start)) })
}

// finish writes the totals of the run, once all requests have been counted.
func (f *statsFile) finish() {
	if f == nil || f.start.IsZero() {
		return
	}
	snap, elapsed := f.session.snapshot(), time.Duration(0)
	for i := range snap.Ops {
		op := &snap.Ops[i]
		op.Current = op.Average
		elapsed = max(elapsed, op.Elapsed)
	}
	f.write(snap, elapsed)
	if f.failed != nil {
		f.session.Warnf("--stats-output: %v", f.failed)
	}
}

// write adds a line per operation. What cannot be written is no reason to end
// the run; the first failure is reported at its end.
func (f *statsFile) write(snap monitor.Snapshot, elapsed time.Duration) {
	for _, op := range snap.Ops {
		line := live.NewLine(op, elapsed)
		text := line.String()
		if f.session.JSON {
			text = console.JSONLine(line)
		}
		if _, err := fmt.Fprintln(f, text); err != nil && f.failed == nil {
			f.failed = err
		}
	}
}

// close ends the file. A run that never came to measure leaves none.
func (f *statsFile) close() {
	if f == nil {
		return
	}
	_ = f.File.Close()
	if f.start.IsZero() {
		_ = os.Remove(f.Name())
	}
}
