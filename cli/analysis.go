package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"warp/pkg/aggregate"
	"warp/pkg/oplog"
)

// analysisFlags are the flags that decide how a log is analysed. The report at
// the end of a run obeys the same ones.
type analysisFlags struct {
	dur, skip     time.Duration
	op, host, out string
	verbose, full bool
	limit, offset int64
}

func (f *analysisFlags) group() flagGroup {
	return flagGroup{title: groupAnalysis, flags: []cli.Flag{
		&durationFlag{Name: "analyze.dur", Destination: &f.dur, DefaultText: "1s, or what makes 400 of them",
			Usage: "length of the segments of a run"},
		&cli.StringFlag{Name: "analyze.op", Destination: &f.op, Usage: "report on this operation `OP` only, such as GET"},
		&cli.StringFlag{Name: "analyze.host", Destination: &f.host, Usage: "report on this `HOST` only"},
		&durationFlag{Name: "analyze.skip", Destination: &f.skip, Usage: "leave out that much after the warm-up"},
		&cli.BoolFlag{Name: "analyze.v", Destination: &f.verbose,
			Usage: "more detail: by host, by object size, first and last access"},
		&cli.StringFlag{Name: "analyze.out", Destination: &f.out, TakesFile: true,
			Usage: "also write the segments to `FILE`, tab-separated"},
		&cli.Int64Flag{Name: "analyze.limit", Destination: &f.limit, Hidden: true, Validator: notNegative,
			Usage: "take only the first `N` rows of the log"},
		&cli.Int64Flag{Name: "analyze.offset", Destination: &f.offset, Hidden: true, Validator: notNegative,
			Usage: "leave out the first `N` rows of the log"},
	}, also: []cli.Flag{
		&cli.BoolFlag{Name: "full", Destination: &f.full,
			Usage: "accepted for scripts that have it: the op log is always complete"},
	}}
}

func notNegative(n int64) error {
	if n < 0 {
		return wrong("%d is negative", n)
	}
	return nil
}

// options are the flags as the analysis wants them.
func (f *analysisFlags) options() aggregate.Options {
	return aggregate.Options{
		SegmentDur: f.dur, Op: f.op, Host: f.host, Skip: f.skip,
		Verbose: f.verbose, Limit: f.limit, Offset: f.offset,
	}
}

// checkOut refuses a file for --analyze.out that exists, before any work is
// done that would be in vain.
func (f *analysisFlags) checkOut() error {
	if f.out == "" {
		return nil
	}
	return checkNew("--analyze.out", f.out, "name another place")
}

// tryOut finds out whether the file can be made.
func (f *analysisFlags) tryOut() error {
	if f.out == "" {
		return nil
	}
	return tryFolder("--analyze.out", f.out)
}

// analyzeFile analyses the log at path. It is the only way from a log to a
// report, for analyze and for cmp; at the end of a run the same was done while
// the log was written, see analyzeWritten. The path "-" stands for in.
func analyzeFile(ctx context.Context, path string, in io.Reader, o aggregate.Options) (*aggregate.Report, error) {
	log, err := openLog(ctx, path, in)
	if err != nil {
		return nil, err
	}
	defer log.close()
	return log.analyze(ctx, func() (*aggregate.Report, error) { return aggregate.Analyze(log.source(ctx, !o.Verbose), o) })
}

// analyze says with a report of the log what the log says of itself.
func (log *logFile) analyze(ctx context.Context, analyze func() (*aggregate.Report, error)) (*aggregate.Report, error) {
	report, err := analyze()
	if err != nil {
		if read := (*oplog.ReadError)(nil); errors.As(err, &read) || context.Cause(ctx) != nil {
			return nil, err // it names the file itself
		}
		return nil, runError("%s: %w", log.name, err)
	}
	report.Describe(log.header, log.trailer)
	report.Warnings = append(report.Warnings, log.warnings...)
	return report, nil
}

// analyzeWritten makes the report of a log that was analysed alongside. It is
// read only where one pass was not enough.
func analyzeWritten(ctx context.Context, path string, rows int64, trailer oplog.Trailer, along *aggregate.Alongside, o aggregate.Options) (*aggregate.Report, error) {
	read, ok := trailer.AsRead()
	if along == nil || !ok {
		return analyzeFile(ctx, path, nil, o)
	}
	log, err := openLog(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer log.close()
	if err := log.readHeader(); err != nil {
		return nil, err
	}
	log.trailer = read
	return log.analyze(ctx, func() (*aggregate.Report, error) { return along.Report(log.source(ctx, true), rows) })
}

// A logFile is a log that can be read more than once and is the same each
// time: what a run that goes on adds in the meantime is left out.
type logFile struct {
	name string
	file *os.File
	size int64
	temp string // to be removed, where the file is a copy of a stream

	header   oplog.Header // known after a pass
	trailer  oplog.Trailer
	warnings []string
}

func openLog(ctx context.Context, path string, in io.Reader) (*logFile, error) {
	if path == "-" {
		return spool(ctx, "standard input", in)
	}
	file, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe: it can be read only once
		defer file.Close()
		return spool(ctx, path, file)
	}
	return &logFile{name: path, file: file, size: info.Size()}, nil
}

// openFile opens what should be an op log.
func openFile(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, runError("cannot open the op log %s: %w", path, reason(err))
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, runError("cannot open the op log %s: %w", path, reason(err))
	}
	if info.IsDir() {
		file.Close()
		return nil, nil, runError("%s is a folder, not an op log", path).tell("give the .csv.zst file in it")
	}
	return file, info, nil
}

// spool copies a stream to a temporary file, because an analysis may have to read twice.
func spool(ctx context.Context, name string, in io.Reader) (*logFile, error) {
	file, err := os.CreateTemp("", "warp-spool-*")
	if err != nil {
		return nil, runError("cannot keep a copy of %s: %w", name, reason(err))
	}
	log := &logFile{name: name, file: file, temp: file.Name()}
	if os.Remove(log.temp) == nil { // Unix: gone at once, whatever happens to this process
		log.temp = ""
	}
	copied := make(chan error, 1)
	go func() {
		var err error
		log.size, err = io.Copy(file, in)
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		// The copy may hang in a read that nothing ends; the process does soon.
		return nil, context.Cause(ctx)
	}
	if err != nil {
		log.close()
		return nil, runError("cannot keep a copy of %s: %w", name, reason(err))
	}
	return log, nil
}

func (l *logFile) close() {
	l.file.Close()
	if l.temp != "" {
		os.Remove(l.temp)
	}
}

// readHeader reads no further than that.
func (l *logFile) readHeader() error {
	r, err := oplog.NewReader(io.NewSectionReader(l.file, 0, l.size), l.name)
	if err != nil {
		return err
	}
	l.header = r.Header()
	return r.Close()
}

// source reads the whole log at each call.
func (l *logFile) source(ctx context.Context, skipKeys bool) aggregate.Source {
	return func(yield func([]oplog.Record) error) error {
		r, err := oplog.NewReader(io.NewSectionReader(l.file, 0, l.size), l.name)
		if err != nil {
			return err
		}
		defer r.Close()
		r.SkipKeys = skipKeys
		err = r.Each(ctx, yield)
		l.header, l.trailer, l.warnings = r.Header(), r.Trailer(), r.Warnings()
		return err
	}
}

// reason is the system's answer without the call and the path, which our
// messages name themselves.
func reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// showReport writes the report to standard output, and the segments to a file
// where that is asked for. What weakens the figures is said on standard error
// too, so that it is seen where the report goes to a file.
func (inv *invocation) showReport(report *aggregate.Report, f *analysisFlags) error {
	inv.hide.strings(report)
	if inv.outColor {
		changeStrings(report, plain) // colors in it are not ours
	}
	for _, w := range report.Warnings {
		if !inv.readable { // where the report is, which has them
			inv.warnf("%s", w)
		}
	}
	err := inv.result(func(w io.Writer) error {
		if inv.json {
			return report.WriteJSON(w)
		}
		return report.WriteText(w, aggregate.TextOptions{Color: inv.outColor, Location: time.Local, Verbose: f.verbose})
	})
	if f.out == "" {
		return err
	}
	// After the report, which must not be lost because of the file.
	if outErr := writeNew(f.out, report.WriteCSV); outErr != nil {
		return errors.Join(err, runError("writing the segments: %w", outErr))
	}
	inv.notef("segments written to %q", f.out)
	return err
}

// result writes what the command was run for.
func (c *console) result(write func(io.Writer) error) error {
	shown := &plainWriter{w: c.out, color: c.outColor}
	w := bufio.NewWriter(shown)
	err := write(w)
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	if flushErr := shown.flush(); err == nil {
		err = flushErr
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil // the reader has seen enough
	}
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// writeNew writes a file that must not exist. Nothing is left of it where
// that fails.
func writeNew(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return runError("%s exists already", path).tell("choose another name or move it away")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, reason(err))
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			os.Remove(path)
			err = fmt.Errorf("%s: %w", path, reason(err))
		}
	}()
	w := bufio.NewWriter(file)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
