package cli

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/console"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/newfile"
	"warp/cli/redact"
	"warp/cli/terminal"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/report"
	"warp/pkg/results"
)

// analysisFlags are the flags that decide how a log is analysed. The report at
// the end of a run obeys the same ones.
type analysisFlags struct {
	dur, skip     time.Duration
	op, host, out string
	log           string // that the report describes; "" = none
	report        string // reportCompact, reportClassic, or "" for what fits the output
	verbose, full bool
	limit, offset int64
	html          htmlFlag
	asserts       *assertFlags // nil if there are none
}

func (f *analysisFlags) group() command.Group {
	return command.Group{Title: command.AnalysisTitle, Flags: []cli.Flag{
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
		if err := newfile.Check("--analyze.out", f.out, "name another place"); err != nil {
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
		if err := newfile.TryFolder("--analyze.out", f.out); err != nil {
			return err
		}
	}
	return f.html.try()
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
	if outErr := newfile.Write(f.out, func(w io.Writer) error { return report.CSV(w, r) }); outErr != nil {
		return errors.Join(err, exit.Errorf("writing the segments: %w", outErr))
	}
	inv.Notef("segments written to %q", f.out)
	return err
}
