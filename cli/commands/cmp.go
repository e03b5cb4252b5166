package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/commands/finder"
	"warp/cli/commands/sweeper"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/files/series"
	"warp/cli/reports"
	"warp/cli/session/webpage"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/comparison"
	"warp/pkg/report/page"
)

// cmpCommand shows what has changed from one op log to another, or from one set
// of them to another.
func cmpCommand() *command.Command {
	var analysis reports.AnalysisFlags
	var judge reports.JudgeFlags
	var paired, allPairs bool
	var asserts reports.AssertFlags
	var web webpage.Flags
	group := analysis.Group()
	group.Flags = command.Without(group.Flags, "analyze.out", "cache")
	return &command.Command{
		Name: "cmp", Args: "BEFORE AFTER [MORE…]", Section: command.SectionAnalysis,
		Summary: "compare the op logs of two runs, or two to eight sets of runs",
		About: []string{
			"Shows the change from BEFORE to AFTER for each metric, and the parameters that differ. One of the",
			"two may be - for standard input.",
			"",
			"Each may also be a folder of op logs or JSON reports, or a quoted pattern of file names. Then cmp",
			"gives a verdict: better, worse, equivalent or undecided. Use at least six runs per side. Up to",
			"eight sets are compared with the first; NAME=PATTERN gives a set a name.",
		},
		Examples: []string{
			"warp cmp before.csv.zst after.csv.zst",
			"warp cmp 'before-*.csv.zst' 'after-*.csv.zst'",
			"warp cmp old=runs/old new=runs/new 'tuned=tuned-*.csv.zst'",
			"warp cmp --analyze.op=GET --json before.csv.zst after.csv.zst",
		},
		Groups: []command.Group{{Title: command.VerdictTitle, Flags: append(judge.Flags(),
			&cli.BoolFlag{Name: "paired", Destination: &paired, Usage: "pair the runs of the sides in the order of their names"},
			&cli.BoolFlag{Name: "all-pairs", Destination: &allPairs, Usage: "compare each set with all others, not only with the first"})},
			group.With(append(web.Flags(), analysis.CSV.Flag())...), {Title: command.AssertionsTitle, Flags: asserts.ChangeFlags()}},
		Absent: []command.Absent{{Names: []string{"cache"}, Why: "is a flag of analyze, for one run"}, {Names: []string{"analyze.out"},
			Why: "is a flag of analyze: cmp has two runs and would write one file"}},
		MinArgs: 2, MaxArgs: compare.MaxSets, Needs: "two op logs or up to eight sets of them",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			analysis.HTML.Keep = web.Wanted()
			var o compare.Options
			err := exit.First(
				func() error { return asserts.Parse(true, benchmarks.RequestNames()) },
				web.Check,
				func() error { return analysis.CSV.Check(inv) },
				analysis.HTML.Ready,
				func() (err error) { o, err = judge.Options(); return err },
			)
			if err != nil {
				return err
			}
			o.Paired, o.Hosts = paired, analysis.Verbose
			asserts.Comparison(&o)
			err = compareArguments(ctx, inv, &analysis, &asserts, allPairs, o)
			return exit.Join(err, web.ShowRecorded(ctx, inv, analysis.HTML.Drawn, ""))
		},
	}
}

// compareArguments compares two runs, or judges two or more sets of them.
func compareArguments(ctx context.Context, inv *command.Invocation, analysis *reports.AnalysisFlags, asserts *reports.AssertFlags, allPairs bool, o compare.Options) error {
	if slices.ContainsFunc(inv.Args, func(arg string) bool { return series.KindOf(arg) == sweeper.Kind }) {
		if allPairs {
			return exit.Usagef("--all-pairs is for more than two sets, but warp cmp compares two sweeps").WithHint("leave it out")
		}
		return compareSweeps(ctx, inv, analysis, asserts, o)
	}
	if slices.ContainsFunc(inv.Args, func(arg string) bool { return series.KindOf(arg) == finder.Kind }) {
		return compareSearches(inv, analysis, asserts)
	}
	sets, err := runlog.FindNamed(inv.Args)
	if err != nil {
		return err
	}
	judged := make([]compare.Set, len(sets))
	single := true
	for i := range sets {
		if judged[i].Runs, err = sets[i].Read(ctx, inv.In, inv.Debugf, nil, analysis.Options()); err != nil {
			return err
		}
		if sets[i].Named || len(sets) > 2 {
			judged[i].Name = sets[i].Name
		}
		single = single && sets[i].One
	}
	if single && len(asserts.All) > 0 {
		return exit.Usagef("--assert: a change is judged between two sets of runs, and there is one run a side").WithHint("give folders or patterns")
	}
	var table []report.RecordedRun
	for i := range judged {
		for _, r := range judged[i].Runs {
			if analysis.CSV.Wanted {
				inv.Hide.Strings(r.Report)
				table = append(table, report.RecordedRun{Set: sets[i].Name, File: r.Name, Report: r.Report})
			}
		}
	}
	if single && len(sets) == 2 {
		return compareTwo(inv, judged[0].Runs[0], judged[1].Runs[0], analysis, table)
	}
	c, err := compare.JudgeSets(judged, allPairs, o)
	if err != nil {
		return reports.ExplainComparison(err)
	}
	if len(sets) == 2 {
		v := c.Comparisons[0]
		v.Before.Name, v.After.Name = sets[0].Name, sets[1].Name
	}
	return reports.ConcludeChanges(inv, c, asserts, reports.Showing{HTML: &analysis.HTML, Verbose: analysis.Verbose, CSV: table})
}

// compareTwo shows what changed between single runs, without a verdict.
func compareTwo(inv *command.Invocation, before, after compare.Run, analysis *reports.AnalysisFlags, table []report.RecordedRun) error {
	for _, r := range []compare.Run{before, after} {
		for _, w := range r.Report.Warnings {
			if !inv.Readable || table != nil { // where the comparison is, which has them
				inv.Warnf("%s: %s", r.Name, strings.TrimPrefix(w, r.Name+": ")) // those about the file itself name it
			}
		}
	}
	c := compare.Reports(before.Report, after.Report)
	if why := compare.Incomparable(c.Parameters); why != "" {
		inv.Warnf("%s", why)
	}
	text := func(w io.Writer) error {
		if table != nil {
			return report.RunsCSV(w, table)
		}
		if reports.IsCompact(inv.Console, analysis.Layout, analysis.Verbose) {
			return comparison.Compact(w, c, reports.TextOptions(inv, false))
		}
		return comparison.Text(w, c, reports.TextOptions(inv, analysis.Verbose))
	}
	return reports.Show(inv, &c, text, &analysis.HTML, func(o page.Options) *page.Page {
		return page.Runs([]compare.Run{before, after}, &c, o)
	})
}
