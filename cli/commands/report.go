package commands

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/internal/human"
	"warp/pkg/anonymous"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/page"
	"warp/pkg/report/printer"
)

// reportCommand draws one run or several.
func reportCommand() *command.Command {
	var analysis reports.AnalysisFlags
	var anonymously bool
	group := analysis.Group()
	group.Flags = command.Without(group.Flags, "analyze.out", "report", "html")
	return &command.Command{
		Name: "report", Args: "LOG [LOG…]", Section: command.SectionAnalysis,
		Summary: "write a page with the charts of a run, or of several runs to compare",
		About: []string{
			"LOG is an op log, a saved JSON report, a folder of these, or a quoted pattern. The page is one file",
			"that needs no network. With several runs, each chart has a line for each run. The report of a single",
			"run is text or JSON if FILE ends in .txt or .json.",
		},
		Examples: []string{
			"warp report run.csv.zst -o run.html",
			"warp report monday.csv.zst tuesday.csv.zst wednesday.csv.zst -o week.html",
			"warp report --anonymous run.csv.zst -o ticket.html",
		},
		Groups: []command.Group{{Title: command.FilesTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Destination: &analysis.HTML.Path, TakesFile: true, Usage: "write the page to `FILE`"},
			&cli.BoolFlag{Name: "anonymous", Destination: &anonymously, Usage: "replace the names of hosts, buckets, objects, clients and files, and the texts of marks"},
		}}, group},
		Absent:  []command.Absent{{Names: []string{"html"}, Why: "is a flag of analyze: name the page with -o"}},
		MinArgs: 1, MaxArgs: -1, Needs: "at least one op log",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			return drawRuns(ctx, inv, &analysis, anonymously)
		},
	}
}

// drawRuns writes the page or the report about the runs that the arguments name.
func drawRuns(ctx context.Context, inv *command.Invocation, analysis *reports.AnalysisFlags, anonymously bool) error {
	path := analysis.HTML.Path
	if path == "" {
		return exit.Usagef("a name for the page is missing").WithHint("write -o FILE.html")
	}
	if err := files.Ready("--out", path); err != nil {
		return err
	}
	runs, err := readNamed(ctx, inv, analysis)
	if err != nil {
		return err
	}
	ending := strings.ToLower(filepath.Ext(path))
	what, format := "page", "html"
	if ending == ".txt" || ending == ".json" {
		what, format = "report", ending[1:]
		if len(runs) > 1 {
			return exit.Usagef("--out: a report as %s is about one run, and these are %d", ending, len(runs)).WithHint("name a page, which ends in .html")
		}
	}
	if anonymously {
		names := anonymous.New(flagDefaults())
		for i := range runs {
			names.Report(runs[i].Report)
			runs[i].Name = fmt.Sprintf("run %d", i+1)
		}
	}
	if err := files.WriteNew(path, func(w io.Writer) error { return writeRuns(w, ending, runs, analysis.Verbose) }); err != nil {
		return exit.Errorf("--out: %w", err)
	}
	if inv.JSON {
		return inv.ResultJSON(exportResult{1, "report", path, format})
	}
	inv.Notef("%s of %s written to %q", what, human.Count(len(runs), "run", "runs"), path)
	return nil
}

// readNamed reads the runs that the arguments name.
func readNamed(ctx context.Context, inv *command.Invocation, analysis *reports.AnalysisFlags) (runs []compare.Run, err error) {
	for _, arg := range inv.Args {
		set, err := runlog.Find(arg)
		if err != nil {
			return nil, err
		}
		if n := len(runs) + len(set.Paths); n > page.MaxRuns {
			return nil, exit.Usagef("these are %d runs or more, and a chart has room for %d", n, page.MaxRuns).WithHint("compare sets of runs with warp cmp --html")
		}
		read, err := set.Read(ctx, inv.In, inv.Debugf, inv.Warnf, analysis.Options())
		if err != nil {
			return nil, err
		}
		runs = append(runs, read...)
	}
	for _, r := range runs {
		inv.Hide.Strings(r.Report)
	}
	return runs, nil
}

// writeRuns writes a report of the only run, or a page of all runs, as the ending of the file's name says.
func writeRuns(w io.Writer, ending string, runs []compare.Run, verbose bool) error {
	switch {
	case ending == ".json":
		return printer.JSON(w, runs[0].Report)
	case ending == ".txt":
		return report.Text(w, runs[0].Report, printer.Options{Location: time.Local, Verbose: verbose})
	case len(runs) == 1:
		return page.Report(runs[0].Report, page.Options{Location: time.Local}).Write(w)
	}
	var changes *compare.Changes
	if len(runs) == 2 {
		c := compare.Reports(runs[0].Report, runs[1].Report)
		changes = &c
	}
	return page.Runs(runs, changes, page.Options{Location: time.Local}).Write(w)
}
