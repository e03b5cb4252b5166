package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
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
		return nil, usageError("--stats-output: %s exists already", path).tell("choose another name or move it away")
	}
	if err != nil {
		return nil, runError("--stats-output: %w", err)
	}
	return &statsFile{File: file, session: s}, nil
}

// begin writes lines until the returned function is called, which writes the
// last ones.
func (f *statsFile) begin(interval time.Duration) (stop func()) {
	if f == nil {
		return func() {}
	}
	f.start = time.Now()
	end := every(interval, f.write)
	return func() {
		end()
		f.write()
		if f.failed != nil {
			f.session.warnf("--stats-output: %v", f.failed)
		}
	}
}

// write adds a line per operation. What cannot be written is no reason to end
// the run; the first failure is told at its end.
func (f *statsFile) write() {
	elapsed := time.Since(f.start)
	for _, op := range f.session.snapshot().Ops {
		line := statsText(op, elapsed)
		if f.session.json {
			line = statsJSON(op, elapsed)
		}
		if _, err := fmt.Fprintln(f, line); err != nil && f.failed == nil {
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
