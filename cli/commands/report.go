package commands

import (
	"context"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report/page"
)

// reportCommand draws one run or several.
func reportCommand() *command.Command {
	var analysis reports.AnalysisFlags
	group := analysis.Group()
	group.Flags = command.Without(group.Flags, "analyze.out", "report", "html")
	return &command.Command{
		Name: "report", Args: "LOG [LOG…]", Section: command.SectionAnalysis,
		Summary: "write a page with the charts of a run, or of several runs to compare",
		About: []string{
			"LOG is an op log, a saved JSON report, a folder of these, or a quoted pattern. The page is one file",
			"that needs no network. With several runs, each chart has a line for each run.",
		},
		Examples: []string{
			"warp report run.csv.zst -o run.html",
			"warp report monday.csv.zst tuesday.csv.zst wednesday.csv.zst -o week.html",
		},
		Groups: []command.Group{{Title: command.FilesTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Destination: &analysis.HTML.Path, TakesFile: true, Usage: "write the page to `FILE`"},
		}}, group},
		Absent:  []command.Absent{{Names: []string{"html"}, Why: "is a flag of analyze: name the page with -o"}},
		MinArgs: 1, MaxArgs: -1, Needs: "at least one op log",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			return drawRuns(ctx, inv, &analysis)
		},
	}
}

// drawRuns writes the page about the runs that the arguments name.
func drawRuns(ctx context.Context, inv *command.Invocation, analysis *reports.AnalysisFlags) error {
	path := analysis.HTML.Path
	if path == "" {
		return exit.Usagef("there is no name for the page").WithHint("write -o FILE.html")
	}
	if err := files.CheckNew("--out", path, "name another place"); err != nil {
		return err
	}
	if err := files.TryFolder("--out", path); err != nil {
		return err
	}
	var runs []compare.Run
	for _, arg := range inv.Args {
		set, err := runlog.Find(arg)
		if err != nil {
			return err
		}
		if n := len(runs) + len(set.Paths); n > page.MaxRuns {
			return exit.Usagef("these are %d runs or more, and a chart has room for %d", n, page.MaxRuns).WithHint("compare sets of runs with warp cmp --html")
		}
		read, err := set.Read(ctx, inv.In, inv.Debugf, inv.Warnf, analysis.Options())
		if err != nil {
			return err
		}
		runs = append(runs, read...)
	}
	for _, r := range runs {
		inv.Hide.Strings(r.Report)
	}
	err := files.WriteNew(path, func(w io.Writer) error {
		if len(runs) == 1 {
			return page.Report(runs[0].Report, page.Options{Location: time.Local}).Write(w)
		}
		var changes *compare.Changes
		if len(runs) == 2 {
			c := compare.Reports(runs[0].Report, runs[1].Report, flagDefaults())
			changes = &c
		}
		return page.Runs(runs, changes, page.Options{Location: time.Local}).Write(w)
	})
	if err != nil {
		return exit.Errorf("--out: %w", err)
	}
	inv.Notef("page of %s written to %q", human.Count(len(runs), "run", "runs"), path)
	return nil
}
