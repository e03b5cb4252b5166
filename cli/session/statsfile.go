package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"warp/cli/exit"
	"warp/cli/terminal/console"
	"warp/cli/terminal/live"
	"warp/pkg/monitor"
)

// A statsFile gets a line per operation and interval, whatever the console shows. A
// nil statsFile does nothing.
type statsFile struct {
	file     *os.File
	out      *console.Console
	snapshot func() monitor.Snapshot
	start    time.Time
	failed   error
}

// createStatsFile creates the file. It returns nil if path is "".
func createStatsFile(path string, out *console.Console, snapshot func() monitor.Snapshot) (*statsFile, error) {
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
	return &statsFile{file: file, out: out, snapshot: snapshot}, nil
}

// Start writes lines until stop is called.
func (f *statsFile) Start(interval time.Duration) (stop func()) {
	if f == nil {
		return func() {}
	}
	f.start = time.Now()
	return live.Every(interval, func() { f.write(f.snapshot(), time.Since(f.start)) })
}

// Finish writes the totals of the run, once all requests have been counted.
func (f *statsFile) Finish() {
	if f == nil || f.start.IsZero() {
		return
	}
	snap, elapsed := f.snapshot(), time.Duration(0)
	for i := range snap.Ops {
		op := &snap.Ops[i]
		op.Current = op.Average
		elapsed = max(elapsed, op.Elapsed)
	}
	f.write(snap, elapsed)
	if f.failed != nil {
		f.out.Warnf("--stats-output: %v", f.failed)
	}
}

// write adds a line per operation. A failure does not end
// the run; Finish reports the first one.
func (f *statsFile) write(snap monitor.Snapshot, elapsed time.Duration) {
	for _, op := range snap.Ops {
		line := live.NewLine(op, elapsed)
		text := line.String()
		if f.out.JSON {
			text = console.JSONLine(line)
		}
		if _, err := fmt.Fprintln(f.file, text); err != nil && f.failed == nil {
			f.failed = err
		}
	}
}

// Close closes the file. A run that was not measured leaves none.
func (f *statsFile) Close() {
	if f == nil {
		return
	}
	_ = f.file.Close()
	if f.start.IsZero() {
		_ = os.Remove(f.file.Name())
	}
}
