// Package reports shows reports and comparisons, judges the assertions about them, and writes the files that flags name.
package reports

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/flagtype"
	"warp/cli/terminal"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// AnalysisFlags are the flags that decide how a log is analysed. The report at
// the end of a run obeys the same ones.
type AnalysisFlags struct {
	Dur, Skip     time.Duration
	Op, host, Out string
	Log           string // that the report describes; "" = none
	Layout        string // reportCompact, reportClassic, or "" for what fits the output
	Verbose, full bool
	Limit, Offset int64
	Cache         int64 // bytes; 0 = none
	HTML          HTMLFlag
	CSV           CSVFlag
	Asserts       *AssertFlags // nil if there are none
}

func (f *AnalysisFlags) Group() command.Group {
	return command.Group{Title: command.AnalysisTitle, Flags: []cli.Flag{
		&flagtype.Duration{Name: "analyze.dur", Destination: &f.Dur, DefaultText: "1s, longer for long runs",
			Usage: "length of a segment"},
		&cli.StringFlag{Name: "analyze.op", Destination: &f.Op, Usage: "report only on this operation `OP`, such as GET"},
		&cli.StringFlag{Name: "analyze.host", Destination: &f.host, Usage: "report only on this `HOST`"},
		&flagtype.Duration{Name: "analyze.skip", Destination: &f.Skip, Usage: "skip this much time after the warm-up"},
		&cli.BoolFlag{Name: "analyze.v", Destination: &f.Verbose,
			Usage: "show more: by host, by object size, first and last access"},
		LayoutFlag(&f.Layout),
		&cli.StringFlag{Name: "analyze.out", Destination: &f.Out, TakesFile: true,
			Usage: "also write the segments to `FILE`, tab-separated"},
		f.HTML.Flag(),
		&flagtype.Size{Name: "cache", Destination: &f.Cache,
			Usage: "report from the op log which share of the downloads a cache of `SIZE` could have served"},
		&cli.Int64Flag{Name: "analyze.limit", Destination: &f.Limit, Hidden: true, Validator: notNegative,
			Usage: "use only the first `N` rows of the log"},
		&cli.Int64Flag{Name: "analyze.offset", Destination: &f.Offset, Hidden: true, Validator: notNegative,
			Usage: "skip the first `N` rows of the log"},
	}, Also: []cli.Flag{
		&cli.BoolFlag{Name: "full", Destination: &f.full, Hidden: true,
			Usage: "no effect, accepted for compatibility: the op log is always complete"},
	}}
}

// LayoutFlag chooses the layout of a report.
func LayoutFlag(layout *string) cli.Flag {
	return &flagtype.Choice{Name: "report", Config: []string{Compact, Classic}, Destination: layout, Hidden: true, DefaultText: "compact on a terminal",
		Usage: "report layout: compact, or classic for scripts that parse it"}
}

func notNegative(n int64) error {
	if n < 0 {
		return flagtype.Wrong("%d is negative", n)
	}
	return nil
}

// Options returns the options of the analysis.
func (f *AnalysisFlags) Options() aggregate.Options {
	o := aggregate.Options{
		SegmentDur: f.Dur, Op: f.Op, Host: f.host, Skip: f.Skip,
		Verbose: f.Verbose, Limit: f.Limit, Offset: f.Offset, Cache: f.Cache,
	}
	if f.Asserts != nil {
		o.Slices = assert.Slices(f.Asserts.All)
	}
	return o
}

// Everything reports whether the report covers all requests.
func (f *AnalysisFlags) Everything() bool {
	return f.Op == "" && f.host == "" && f.Skip == 0 && f.Limit == 0 && f.Offset == 0
}

// CheckOut refuses files for --analyze.out and --html that exist, before any work is done.
func (f *AnalysisFlags) CheckOut() error {
	if err := files.CheckNew("--analyze.out", f.Out, "name another place"); err != nil {
		return err
	}
	if f.Out != "" && filepath.Clean(f.Out) == filepath.Clean(f.HTML.Path) {
		return exit.Usagef("--analyze.out and --html name the same file")
	}
	return f.HTML.Check()
}

// TryOut finds out whether the files can be made.
func (f *AnalysisFlags) TryOut() error {
	if err := files.TryFolder("--analyze.out", f.Out); err != nil {
		return err
	}
	return f.HTML.try()
}

// Layouts of a report.
const (
	Compact = "compact"
	Classic = "classic"
)

// compact reports whether the report is a line for each operation. What was
// averaged by another tool has figures that only the classic layout explains.
func (f *AnalysisFlags) compact(c *console.Console, r *results.Report) bool {
	averaged := slices.ContainsFunc(r.Groups, func(g results.GroupReport) bool { return g.Kind == "aggregated" })
	return IsCompact(c, f.Layout, f.Verbose || averaged)
}

// IsCompact reports whether a layout is the compact one. "" is compact on a terminal, unless the report has more to say than that
// layout has room for.
func IsCompact(c *console.Console, layout string, more bool) bool {
	if layout == "" {
		return c.OutWidth() > 0 && !more
	}
	return layout == Compact
}

// showReport writes the report to standard output, and the segments to a file
// if --analyze.out is given. Warnings go to standard error too, because
// standard output may be a file.
func showReport(inv *command.Invocation, r *results.Report, f *AnalysisFlags) error {
	inv.Hide.Strings(r)
	if inv.OutColor {
		redact.ChangeStrings(r, terminal.Plain) // colors in it are not ours
	}
	for _, w := range r.Warnings {
		if !inv.Readable || f.CSV.Wanted { // where the report is, which has them
			inv.Warnf("%s", w)
		}
	}
	err := inv.Document(r, func(w io.Writer) error {
		if f.CSV.Wanted {
			return report.RunsCSV(w, []report.RecordedRun{{File: f.Log, Report: r}})
		}
		if f.compact(inv.Console, r) {
			return report.Compact(w, r, TextOptions(inv, false), f.Log)
		}
		return report.Text(w, r, printer.Options{Color: inv.OutColor, Location: time.Local, Verbose: f.Verbose})
	})
	if f.Out == "" {
		return err
	}
	// After the report, which must not be lost because of the file.
	if outErr := files.WriteNew(f.Out, func(w io.Writer) error { return report.CSV(w, r) }); outErr != nil {
		return errors.Join(err, exit.Errorf("writing the segments: %w", outErr))
	}
	inv.Notef("segments written to %q", f.Out)
	return err
}
