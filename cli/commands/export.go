package commands

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/cli/reports"
	"warp/internal/human"
	"warp/pkg/export"
	"warp/pkg/oplog"
)

// Formats of warp export, and the endings of files that have them.
const (
	formatPercentiles = "hgrm"
	formatIntervals   = "hlog"
	formatCSV         = "csv"
)

// A logExport is an export: rows or latencies, the file and its format.
type logExport struct {
	analysis reports.AnalysisFlags
	out      string
	format   string
}

// exportCommand writes a run in a format of other tools.
func exportCommand() *command.Command {
	var f logExport
	group := f.analysis.Group()
	group.Flags = command.Without(group.Flags, "analyze.out", "analyze.v", "report", "html", "cache")
	group.Also = nil
	return &command.Command{
		Name: "export", Args: "LOG [LOG…]", Section: command.SectionAnalysis,
		Summary: "write the rows or latencies of a run for other tools",
		About: []string{
			"The ending of FILE selects the format: csv has the rows of the log, hgrm the percentiles of one operation",
			"and hlog a histogram for each segment and operation. Several logs are merged first; - is standard",
			"input or standard output.",
		},
		Examples: []string{
			"warp export run.csv.zst -o rows.csv",
			"warp export run.csv.zst --analyze.op=GET -o get.hgrm",
			"warp export run.csv.zst -o - --format=hlog",
		},
		Groups: []command.Group{{Title: command.FilesTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Destination: &f.out, TakesFile: true, Usage: "write to `FILE`, or - for standard output"},
			&flagtype.Choice{Name: "format", Config: []string{formatCSV, formatPercentiles, formatIntervals}, Destination: &f.format,
				DefaultText: "the ending of FILE", Usage: "output format: csv, hgrm or hlog"},
		}}, group},
		MinArgs: 1, MaxArgs: -1, Needs: "at least one op log",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			if err := f.check(inv); err != nil {
				return err
			}
			return f.run(ctx, inv)
		},
	}
}

// check finds out the format, and whether the file can be made.
func (f *logExport) check(inv *command.Invocation) error {
	const formats = "csv for the rows, hgrm for percentiles or hlog for histograms over time"
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(f.out), "."))
	switch {
	case f.out == "":
		return exit.Usagef("a name for the file is missing").WithHint("write -o FILE, which ends in %s", formats)
	case f.out == "-" && inv.JSON:
		return exit.Usagef("--out=- and --json cannot be combined: both write to standard output").WithHint("name a file")
	case f.format != "":
	case f.out == "-":
		return exit.Usagef("the format for standard output is not known").WithHint("add --format: %s", formats)
	case ending == "parquet":
		return exit.Usagef("warp writes no Parquet").
			WithHint("write a .csv and convert it: duckdb -c \"COPY 'rows.csv' TO 'rows.parquet'\"")
	case ending == formatCSV, ending == formatPercentiles, ending == formatIntervals:
		f.format = ending
	default:
		return exit.Usagef("%s has an unknown ending", f.out).WithHint("use %s, or add --format", formats)
	}
	if f.format == formatCSV && (f.analysis.Dur != 0 || f.analysis.Skip != 0) {
		return exit.Usagef("--analyze.dur and --analyze.skip change figures, and CSV has the rows as they are").WithHint("leave them out")
	}
	if f.out == "-" {
		return nil
	}
	return files.Ready("--out", f.out)
}

func (f *logExport) run(ctx context.Context, inv *command.Invocation) error {
	path, warnings, remove, err := oneLog(ctx, inv)
	if err != nil {
		return err
	}
	defer remove()
	if f.format == formatCSV {
		return f.rows(ctx, inv, path, warnings)
	}
	report, err := runlog.Analyze(ctx, path, inv.In, f.analysis.Options())
	if err != nil {
		return err
	}
	inv.Hide.Strings(report)
	if len(report.Operations) == 0 {
		return exit.Errorf("%s: it has no requests, or --analyze.offset skips all of them", strings.Join(inv.Args, ", "))
	}
	return f.write(inv, append(warnings, report.Warnings...), func(w io.Writer) (string, error) {
		what, write := "percentiles", export.Percentiles
		if f.format == formatIntervals {
			what, write = "histograms", export.Intervals
		}
		if err := write(w, report); err != nil {
			return "", ofLog(strings.Join(inv.Args, ", "), err)
		}
		return what, nil
	})
}

// rows copies the rows that the flags select.
func (f *logExport) rows(ctx context.Context, inv *command.Invocation, path string, warnings []string) error {
	log, err := runlog.Open(ctx, path, inv.In)
	if err != nil {
		return err
	}
	defer log.Close()
	if log.Aggregated {
		return exit.Errorf("%s has results, but not the individual requests that CSV consists of", log.Name).WithHint("give the op log of the run")
	}
	return f.write(inv, warnings, func(w io.Writer) (string, error) {
		to, err := export.NewCSV(w, log.Header().Scripted || len(log.Header().Statements) > 0)
		if err != nil {
			return "", err
		}
		o := f.analysis.Options()
		if err = o.Rows(log, to.Write); err == nil {
			err = to.Flush()
		}
		for _, text := range log.Warnings {
			inv.Warnf("%s", text)
		}
		if err != nil && context.Cause(ctx) == nil {
			err = ofLog(log.Name, err)
		}
		return human.Plural(to.Rows(), "row"), err
	})
}

// ofLog adds the name of the log to an error that names no file.
func ofLog(name string, err error) error {
	if errors.As(err, new(*oplog.ReadError)) || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return exit.Errorf("%s: %w", name, err)
}

// write makes the file, or writes to standard output, and says so.
func (f *logExport) write(inv *command.Invocation, warnings []string, content func(io.Writer) (string, error)) error {
	for _, text := range warnings {
		inv.Warnf("%s", text)
	}
	var what string
	var failed error
	fill := func(w io.Writer) error {
		what, failed = content(w)
		return failed
	}
	var err error
	if f.out == "-" {
		err = inv.Result(fill)
	} else {
		err = files.WriteNew(f.out, fill)
	}
	if failed != nil && !errors.As(failed, new(*fs.PathError)) { // it is about the log
		err = failed
	}
	switch {
	case errors.Is(err, export.ErrSeveral):
		return exit.Errorf("%w", failed).WithHint("choose one with --analyze.op, or write all of them to a .hlog file")
	case err != nil || f.out == "-":
		return err
	case inv.JSON:
		return inv.ResultJSON(exportResult{1, "export", f.out, f.format})
	}
	inv.Notef("%s written to %q", what, f.out)
	return nil
}

// exportResult is the JSON document of export and report.
type exportResult struct {
	Version int    `json:"version"`
	Command string `json:"command"`
	File    string `json:"file"`
	Format  string `json:"format"`
}
