package commands

import (
	"context"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/cli/session/webpage"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/page"
)

// cmpCommand shows what has changed from one op log to another, or from one set
// of them to another.
func cmpCommand() *command.Command {
	var analysis reports.AnalysisFlags
	var judge reports.JudgeFlags
	var paired bool
	var asserts reports.AssertFlags
	var web webpage.Flags
	group := analysis.Group()
	group.Flags = command.Without(group.Flags, "analyze.out")
	return &command.Command{
		Name: "cmp", Args: "BEFORE AFTER", Section: command.SectionAnalysis,
		Summary: "compare the op logs of two runs, or of two sets of runs",
		About: []string{
			"Shows the change from BEFORE to AFTER for each metric, and the parameters that differ. One of the",
			"two may be - for standard input.",
			"",
			"Each may also be a folder of op logs or JSON reports, or a quoted pattern of file names. Then cmp",
			"gives a verdict: better, worse, equivalent or undecided. Use at least six runs per side.",
		},
		Examples: []string{
			"warp cmp before.csv.zst after.csv.zst",
			"warp cmp 'before-*.csv.zst' 'after-*.csv.zst'",
			"warp cmp --analyze.op=GET --json before.csv.zst after.csv.zst",
		},
		Groups: []command.Group{{Title: command.VerdictTitle, Flags: append(judge.Flags(),
			&cli.BoolFlag{Name: "paired", Destination: &paired, Usage: "pair the runs of the two sides in the order of their names"})},
			group.With(web.Flags()...), {Title: command.AssertionsTitle, Flags: asserts.ChangeFlags()}},
		Absent: []command.Absent{{Names: []string{"analyze.out"},
			Why: "is a flag of analyze: cmp has two runs and would write one file"}},
		MinArgs: 2, MaxArgs: 2, Needs: "two op logs",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			if inv.Args[0] == "-" && inv.Args[1] == "-" {
				return exit.Usagef("standard input cannot be both runs").WithHint("give the file of one of them")
			}
			if err := asserts.Parse(true, benchmarks.RequestNames()); err != nil {
				return err
			}
			if err := web.Check(); err != nil {
				return err
			}
			analysis.HTML.Keep = web.Wanted()
			if err := analysis.HTML.Ready(); err != nil {
				return err
			}
			o, err := judge.Options(flagDefaults())
			if err != nil {
				return err
			}
			o.Paired, o.Hosts = paired, analysis.Verbose
			asserts.Comparison(&o)
			err = compareArguments(ctx, inv, &analysis, &asserts, o)
			return exit.Join(err, web.ShowRecorded(ctx, inv, analysis.HTML.Drawn, ""))
		},
	}
}

// compareArguments compares two runs, or judges two sets of them.
func compareArguments(ctx context.Context, inv *command.Invocation, analysis *reports.AnalysisFlags, asserts *reports.AssertFlags, o compare.Options) error {
	var sets [2]runlog.Set
	var runs [2][]compare.Run
	for i, arg := range inv.Args {
		var err error
		if sets[i], err = runlog.Find(arg); err != nil {
			return err
		}
	}
	for i := range sets {
		var err error
		if runs[i], err = sets[i].Read(ctx, inv.In, inv.Debugf, nil, analysis.Options()); err != nil {
			return err
		}
	}
	if sets[0].One && sets[1].One {
		if len(asserts.All) > 0 {
			return exit.Usagef("--assert: a change is judged between two sets of runs, and there is one run a side").WithHint("give folders or patterns")
		}
		return compareTwo(inv, runs[0][0], runs[1][0], analysis, o.Default)
	}
	v, err := compare.Judge(runs[0], runs[1], o)
	if err != nil {
		return reports.ExplainComparison(err)
	}
	v.Before.Name, v.After.Name = sets[0].Name, sets[1].Name
	return reports.ConcludeChanges(inv, v, asserts, &analysis.HTML)
}

// compareTwo shows what changed between single runs, without a verdict.
func compareTwo(inv *command.Invocation, before, after compare.Run, analysis *reports.AnalysisFlags, defaults compare.Defaults) error {
	for _, r := range []compare.Run{before, after} {
		for _, w := range r.Report.Warnings {
			if !inv.Readable { // where the comparison is, which has them
				inv.Warnf("%s: %s", r.Name, w)
			}
		}
	}
	c := compare.Reports(before.Report, after.Report, defaults)
	if why := compare.Incomparable(c.Parameters); why != "" {
		inv.Warnf("%s", why)
	}
	err := inv.Result(func(w io.Writer) error {
		if inv.JSON {
			return report.ComparisonJSON(w, c)
		}
		if analysis.Layout == reports.Compact || analysis.Layout == "" && inv.OutWidth() > 0 && !analysis.Verbose {
			return report.CompactComparison(w, c, report.CompactOptions{Color: inv.OutColor, Width: inv.OutWidth(), Location: time.Local})
		}
		return report.ComparisonText(w, c, reports.TextOptions(inv, analysis.Verbose))
	})
	return exit.Join(err, reports.SavePage(inv, &analysis.HTML, func(o page.Options) *page.Page {
		return page.Runs([]compare.Run{before, after}, &c, o)
	}))
}
