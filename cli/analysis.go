package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/console"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/redact"
	"warp/cli/terminal"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/miniowarp"
	"warp/pkg/oplog"
	"warp/pkg/report"
	"warp/pkg/results"
)

// analysisFlags are the flags that decide how a log is analysed. The report at
// the end of a run obeys the same ones.
type analysisFlags struct {
	dur, skip     time.Duration
	op, host, out string
	log           string // whose report it is; "" = that of none
	report        string // reportCompact, reportClassic, or "" for what fits the output
	verbose, full bool
	limit, offset int64
	html          htmlFlag
	asserts       *assertFlags // nil where there are none
}

func (f *analysisFlags) group() command.Group {
	return command.Group{Title: groupAnalysis, Flags: []cli.Flag{
		&flagtype.Duration{Name: "analyze.dur", Destination: &f.dur, DefaultText: "1s, or what makes 400 of them",
			Usage: "length of a segment"},
		&cli.StringFlag{Name: "analyze.op", Destination: &f.op, Usage: "report only on this operation `OP`, such as GET"},
		&cli.StringFlag{Name: "analyze.host", Destination: &f.host, Usage: "report only on this `HOST`"},
		&flagtype.Duration{Name: "analyze.skip", Destination: &f.skip, Usage: "skip this much time after the warm-up"},
		&cli.BoolFlag{Name: "analyze.v", Destination: &f.verbose,
			Usage: "show more: by host, by object size, first and last access"},
		reportFlag(&f.report),
		&cli.StringFlag{Name: "analyze.out", Destination: &f.out, TakesFile: true,
			Usage: "also write the segments to `FILE`, tab-separated"},
		f.html.flag(),
		&cli.Int64Flag{Name: "analyze.limit", Destination: &f.limit, Hidden: true, Validator: notNegative,
			Usage: "use only the first `N` rows of the log"},
		&cli.Int64Flag{Name: "analyze.offset", Destination: &f.offset, Hidden: true, Validator: notNegative,
			Usage: "skip the first `N` rows of the log"},
	}, Also: []cli.Flag{
		&cli.BoolFlag{Name: "full", Destination: &f.full, Hidden: true,
			Usage: "no effect, accepted for compatibility: the op log is always complete"},
	}}
}

// reportFlag chooses the layout of a report.
func reportFlag(layout *string) cli.Flag {
	return &flagtype.Choice{Name: "report", Config: []string{reportCompact, reportClassic}, Destination: layout, Hidden: true, DefaultText: "compact on a terminal",
		Usage: "report layout: compact, or classic for scripts that parse it"}
}

func notNegative(n int64) error {
	if n < 0 {
		return flagtype.Wrong("%d is negative", n)
	}
	return nil
}

// options are the flags as the analysis wants them.
func (f *analysisFlags) options() aggregate.Options {
	o := aggregate.Options{
		SegmentDur: f.dur, Op: f.op, Host: f.host, Skip: f.skip,
		Verbose: f.verbose, Limit: f.limit, Offset: f.offset,
	}
	if f.asserts != nil {
		o.Slices = assert.Slices(f.asserts.all)
	}
	return o
}

// everything says whether the report leaves out no requests.
func (f *analysisFlags) everything() bool {
	return f.op == "" && f.host == "" && f.skip == 0 && f.limit == 0 && f.offset == 0
}

// checkOut refuses files for --analyze.out and --html that exist, before any work is
// done that would be in vain.
func (f *analysisFlags) checkOut() error {
	if f.out != "" {
		if err := checkNew("--analyze.out", f.out, "name another place"); err != nil {
			return err
		}
		if f.html.path != "" && filepath.Clean(f.out) == filepath.Clean(f.html.path) {
			return exit.Usagef("--analyze.out and --html name the same file")
		}
	}
	return f.html.check()
}

// tryOut finds out whether the files can be made.
func (f *analysisFlags) tryOut() error {
	if f.out != "" {
		if err := tryFolder("--analyze.out", f.out); err != nil {
			return err
		}
	}
	return f.html.try()
}

// analyzeFile analyses the log at path. It is the only way from a log to a
// report, for analyze and for cmp. The path "-" reads from in.
func analyzeFile(ctx context.Context, path string, in io.Reader, o aggregate.Options) (*results.Report, error) {
	log, err := openLog(ctx, path, in)
	if err != nil {
		return nil, err
	}
	defer log.close()
	if log.aggregated {
		return log.readAggregated(o)
	}
	report, err := aggregate.Analyze(log, o)
	if err != nil {
		if read := (*oplog.ReadError)(nil); errors.As(err, &read) || context.Cause(ctx) != nil {
			return nil, err // it names the file itself
		}
		return nil, exit.Errorf("%s: %w", log.name, err)
	}
	report.Warnings = append(report.Warnings, log.warnings...)
	return report, nil
}

// A logFile is a log that can be read more than once and is the same each
// time: what a run that goes on adds in the meantime is left out. A stream is
// copied to a temporary file while it is read first.
type logFile struct {
	ctx    context.Context
	name   string
	file   *os.File
	size   int64
	stream io.Reader // what the file is a copy of; nil once that is complete
	temp   string    // to be removed, where the file is a copy of a stream

	aggregated bool          // no log at all, but results that the reader of logs refuses
	rest       io.Reader     // of a stream of such results
	reader     *oplog.Reader // at its first row
	header     oplog.Header
	warnings   []string
}

func openLog(ctx context.Context, path string, in io.Reader) (*logFile, error) {
	log := &logFile{ctx: ctx, name: path}
	if err := log.open(path, in); err != nil {
		return nil, err
	}
	err := log.begin()
	if errors.Is(err, oplog.ErrAggregated) {
		log.aggregated = true
		return log, nil
	}
	if err != nil {
		log.close()
		return nil, err
	}
	log.header = log.reader.Header()
	return log, nil
}

// open opens the file, or one to keep a copy of the stream.
func (l *logFile) open(path string, in io.Reader) error {
	if path == "-" {
		l.name = "standard input"
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

// copy keeps what is read of a stream, in case that it has to be read again.
func (l *logFile) copy(in io.Reader) error {
	file, err := os.CreateTemp("", "warp-spool-*")
	if err != nil {
		return exit.Errorf("cannot keep a copy of %s: %w", l.name, reason(err))
	}
	l.file, l.temp, l.stream = file, file.Name(), in
	if os.Remove(l.temp) == nil { // Unix: gone at once, whatever happens to this process
		l.temp = ""
	}
	return nil
}

// begin reads up to the first row.
func (l *logFile) begin() error {
	source := io.Reader(io.NewSectionReader(l.file, 0, l.size))
	if l.stream != nil {
		source = io.TeeReader(cancelled{l.ctx, l.stream}, counted{l})
		l.rest, l.stream = source, nil
	}
	var err error
	if l.reader, err = oplog.NewReader(source, l.name); err != nil && l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return err
}

// readAggregated takes a report as it is, or makes one of the results of another tool. They cannot be cut anew.
func (l *logFile) readAggregated(o aggregate.Options) (*results.Report, error) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"analyze.dur", o.SegmentDur != 0}, {"analyze.skip", o.Skip != 0}, {"analyze.host", o.Host != ""},
		{"analyze.limit", o.Limit != 0}, {"analyze.offset", o.Offset != 0},
	} {
		if f.given {
			return nil, exit.Errorf("%s has results, without the single requests that --%s needs", l.name, f.name).WithHint("leave it out")
		}
	}
	in := io.Reader(io.NewSectionReader(l.file, 0, l.size))
	if l.rest != nil {
		in = io.MultiReader(in, l.rest)
	}
	text, err := oplog.Decompress(in)
	if err != nil {
		return nil, exit.Errorf("%s: %w", l.name, err)
	}
	defer text.Close()
	document := bufio.NewReader(text)
	report, err := (*results.Report)(nil), error(nil)
	switch {
	case !results.IsReport(document):
		report, err = miniowarp.Read(document, o.Op)
	case o.Op != "":
		return nil, exit.Errorf("%s is a report, without the single requests that --analyze.op needs", l.name).WithHint("leave it out")
	default:
		report, err = results.Read(document)
	}
	if err != nil && l.ctx.Err() != nil {
		return nil, context.Cause(l.ctx)
	}
	if err != nil {
		return nil, exit.Errorf("%s: %w", l.name, err)
	}
	return report, nil
}

// counted is the copy of a stream as it grows.
type counted struct{ *logFile }

func (c counted) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	c.size += int64(n)
	if err != nil {
		err = fmt.Errorf("cannot keep a copy of %s: %w", c.name, reason(err))
	}
	return n, err
}

// cancelled is a stream whose reader does not wait longer than ctx lasts. A
// read that hangs then goes on, but the process ends soon.
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

// Header is what the log says before its first row.
func (l *logFile) Header() oplog.Header { return l.header }

// Read reads the whole log at each call.
func (l *logFile) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
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
	l.warnings = r.Warnings()
	return r.Trailer(), errors.Join(err, failed)
}

func (l *logFile) close() {
	if l.reader != nil {
		l.reader.Close()
	}
	l.file.Close()
	if l.temp != "" {
		os.Remove(l.temp)
	}
}

// openFile opens what should be an op log.
func openFile(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, exit.Errorf("cannot open the op log %s: %w", path, reason(err))
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, exit.Errorf("cannot open the op log %s: %w", path, reason(err))
	}
	if info.IsDir() {
		file.Close()
		return nil, nil, exit.Errorf("%s is a folder, not an op log", path).WithHint("give the .csv.zst file in it")
	}
	return file, info, nil
}

// reason is the system's answer without the call and the path, which our
// messages name themselves.
func reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Layouts of a report.
const (
	reportCompact = "compact"
	reportClassic = "classic"
)

// compact reports whether the report is a line for each operation. What was
// averaged by another tool has figures that only the classic layout explains.
func (f *analysisFlags) compact(c *console.Console, r *results.Report) bool {
	if f.report == "" {
		averaged := slices.ContainsFunc(r.Groups, func(g results.GroupReport) bool { return g.Kind == "aggregated" })
		return c.OutWidth() > 0 && !f.verbose && !averaged
	}
	return f.report == reportCompact
}

// showReport writes the report to standard output, and the segments to a file
// where that is asked for. What weakens the figures is said on standard error
// too, so that it is seen where the report goes to a file.
func showReport(inv *command.Invocation, r *results.Report, f *analysisFlags) error {
	inv.Hide.Strings(r)
	if inv.OutColor {
		redact.ChangeStrings(r, terminal.Plain) // colors in it are not ours
	}
	for _, w := range r.Warnings {
		if !inv.Readable { // where the report is, which has them
			inv.Warnf("%s", w)
		}
	}
	err := inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return report.JSON(w, r)
		}
		if f.compact(inv.Console, r) {
			return report.Compact(w, r, report.CompactOptions{Color: inv.OutColor, Width: inv.OutWidth(), Location: time.Local, Log: f.log})
		}
		return report.Text(w, r, report.TextOptions{Color: inv.OutColor, Location: time.Local, Verbose: f.verbose})
	})
	if f.out == "" {
		return err
	}
	// After the report, which must not be lost because of the file.
	if outErr := writeNew(f.out, func(w io.Writer) error { return report.CSV(w, r) }); outErr != nil {
		return errors.Join(err, exit.Errorf("writing the segments: %w", outErr))
	}
	inv.Notef("segments written to %q", f.out)
	return err
}

// writeNew writes a file that must not exist. Nothing is left of it where
// that fails.
func writeNew(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exit.Errorf("%s exists already", path).WithHint("choose another name or move it away")
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
