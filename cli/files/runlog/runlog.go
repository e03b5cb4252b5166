// Package runlog names op logs and reads recorded runs: op logs and reports, from
// files, streams, folders and patterns of names.
package runlog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/series"
	"warp/internal/tempfile"
	"warp/pkg/aggregate"
	"warp/pkg/miniowarp"
	"warp/pkg/oplog"
	"warp/pkg/oplog/lines"
	"warp/pkg/replay"
	"warp/pkg/results"
)

// Analyze analyses the log at path. All commands get their reports from it. The
// path "-" reads from in.
func Analyze(ctx context.Context, path string, in io.Reader, o aggregate.Options) (*results.Report, error) {
	report, _, err := analyze(ctx, path, in, o)
	return report, err
}

// analyze also returns the warnings about the file itself, such as an incomplete end. They are part of the report.
func analyze(ctx context.Context, path string, in io.Reader, o aggregate.Options) (*results.Report, []string, error) {
	log, err := Open(ctx, path, in)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	if log.Aggregated {
		report, err := log.readAggregated(o)
		return report, nil, err
	}
	report, err := log.report(o)
	if err != nil {
		if read := (*oplog.ReadError)(nil); errors.As(err, &read) || context.Cause(ctx) != nil {
			return nil, nil, err // it names the file itself
		}
		return nil, nil, exit.Errorf("%s: %w", log.Name, err)
	}
	report.Warnings = append(report.Warnings, log.Warnings...)
	return report, log.Warnings, nil
}

// report analyses the log. The report on a replay says how well the replay kept to its log.
func (f *File) report(o aggregate.Options) (*results.Report, error) {
	if f.header.Replay == nil {
		return aggregate.Analyze(f, o)
	}
	log := &replayLog{File: f}
	report, err := aggregate.Analyze(log, o)
	if err == nil {
		report.Replay = log.fidelity.Report(f.header.Replay)
	}
	return report, err
}

// A replayLog counts while it is read.
type replayLog struct {
	*File
	fidelity replay.Fidelity
}

// Read reads the log. It may be read more than once.
func (l *replayLog) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	l.fidelity = replay.Fidelity{}
	return l.File.Read(decided, func(batch []oplog.Record) error {
		_ = l.fidelity.Write(batch) // never fails
		return rows(batch)
	})
}

// A File is a log that can be read more than once and is the same each time, even
// if its run still adds to it. A stream is copied to a temporary file while it is
// first read.
type File struct {
	ctx    context.Context
	Name   string
	file   *os.File
	size   int64
	stream io.Reader // copied to file; nil once the copy is complete
	copied bool      // file is a copy, which is removed at the end

	Aggregated bool          // it has results instead of requests
	rest       io.Reader     // of a stream of such results
	reader     *oplog.Reader // at its first row
	header     oplog.Header
	Warnings   []string
}

// Open opens the log at path, or standard input if that is "-".
func Open(ctx context.Context, path string, in io.Reader) (*File, error) {
	log := &File{ctx: ctx, Name: path}
	if err := log.open(path, in); err != nil {
		return nil, err
	}
	err := log.begin()
	if errors.Is(err, oplog.ErrAggregated) {
		log.Aggregated = true
		return log, nil
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	log.header = log.reader.Header()
	return log, nil
}

// open opens the file, or one to keep a copy of the stream.
func (l *File) open(path string, in io.Reader) error {
	if path == "-" {
		l.Name = "standard input"
		return l.copy(in)
	}
	file, info, err := openFile(path)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		l.file, l.size = file, info.Size()
		return nil
	}
	return l.copy(file) // a pipe: it can be read only once
}

// copy keeps the data that is read from a stream, in case it is read again.
func (l *File) copy(in io.Reader) error {
	file, err := tempfile.Create("", "warp-spool-*")
	if err != nil {
		return exit.Errorf("cannot keep a copy of %s: %w", l.Name, files.Reason(err))
	}
	l.file, l.copied, l.stream = file, true, in
	return nil
}

// begin reads up to the first row.
func (l *File) begin() error {
	source := io.Reader(io.NewSectionReader(l.file, 0, l.size))
	if l.stream != nil {
		source = io.TeeReader(cancelled{l.ctx, l.stream}, counted{l})
		l.rest, l.stream = source, nil
	}
	var err error
	if l.reader, err = oplog.NewReader(source, l.Name); err != nil && l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return err
}

// readAggregated reads a report, or makes one of the results of another tool.
func (l *File) readAggregated(o aggregate.Options) (*results.Report, error) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"analyze.dur", o.SegmentDur != 0}, {"analyze.skip", o.Skip != 0}, {"analyze.host", o.Host != ""},
		{"analyze.limit", o.Limit != 0}, {"analyze.offset", o.Offset != 0}, {"cache", o.Cache != 0},
	} {
		if f.given {
			return nil, exit.Errorf("%s has results, but not the individual requests that --%s needs", l.Name, f.name).WithHint("leave it out")
		}
	}
	in := io.Reader(io.NewSectionReader(l.file, 0, l.size))
	if l.rest != nil {
		in = io.MultiReader(in, l.rest)
	}
	text, err := lines.Decompress(in)
	if err != nil {
		return nil, exit.Errorf("%s: %w", l.Name, err)
	}
	defer text.Close()
	document := bufio.NewReader(text)
	report, err := (*results.Report)(nil), error(nil)
	switch {
	case !results.IsReport(document):
		report, err = miniowarp.Read(document, o.Op)
	case o.Op != "":
		return nil, exit.Errorf("%s is a report, without the individual requests that --analyze.op needs", l.Name).WithHint("leave it out")
	default:
		report, err = results.Read(document)
	}
	if err != nil && l.ctx.Err() != nil {
		return nil, context.Cause(l.ctx)
	}
	if err != nil {
		return nil, exit.Errorf("%s: %w", l.Name, err)
	}
	return report, nil
}

// counted is the copy of a stream as it grows.
type counted struct{ *File }

func (c counted) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	c.size += int64(n)
	if err != nil {
		err = fmt.Errorf("cannot keep a copy of %s: %w", c.Name, files.Reason(err))
	}
	return n, err
}

// Cancelled returns a stream whose reads end with ctx.
func Cancelled(ctx context.Context, in io.Reader) io.Reader { return cancelled{ctx, in} }

// cancelled is a stream whose reads end with ctx. The read below may go on, but the
// process ends soon.
type cancelled struct {
	ctx context.Context
	in  io.Reader
}

func (c cancelled) Read(b []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	own := make([]byte, len(b))
	done := make(chan result, 1)
	go func() {
		n, err := c.in.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(b, own[:r.n]), r.err
	case <-c.ctx.Done():
		return 0, context.Cause(c.ctx)
	}
}

// Header returns the header of the log.
func (l *File) Header() oplog.Header { return l.header }

// Read reads the whole log at each call.
func (l *File) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	if l.reader == nil {
		if err := l.begin(); err != nil {
			return oplog.Trailer{}, err
		}
	}
	r := l.reader
	defer func() { l.reader = nil }()
	defer r.Close()
	var failed error
	err := r.EachInWindow(l.ctx, func(w oplog.Window, marks []oplog.Mark) { failed = errors.Join(failed, decided(w, marks)) }, rows)
	l.Warnings = r.Warnings()
	return r.Trailer(), errors.Join(err, failed)
}

// Close closes the log and removes its copy.
func (l *File) Close() {
	if l.reader != nil {
		l.reader.Close()
	}
	if l.copied {
		_ = tempfile.Remove(l.file)
		return
	}
	l.file.Close()
}

// openFile opens a file that should be an op log.
func openFile(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, exit.Errorf("cannot open the op log %s: %w", path, files.Reason(err))
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, exit.Errorf("cannot open the op log %s: %w", path, files.Reason(err))
	}
	if info.IsDir() {
		file.Close()
		err := exit.Errorf("%s is a folder, not an op log", path)
		if kind := series.KindOf(path); kind != "" {
			return nil, nil, err.WithHint("show it with warp %s %s, or give a .csv.zst file in it", kind, path)
		}
		return nil, nil, err.WithHint("give the .csv.zst file in it")
	}
	return file, info, nil
}

// OpenReader opens the op log at path to be read once.
func OpenReader(path string) (*oplog.Reader, error) {
	file, _, err := openFile(path)
	if err != nil {
		return nil, err
	}
	file.Close()
	return oplog.Open(path)
}
