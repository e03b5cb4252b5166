package cli

import (
	"context"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"warp/pkg/aggregate"
	"warp/pkg/compare"
	"warp/pkg/report"
)

// cmpCommand shows what has changed from one op log to another, or from one set
// of them to another.
func cmpCommand() *command {
	var analysis analysisFlags
	var judge judgeFlags
	var paired bool
	var asserts assertFlags
	group := analysis.group()
	group.flags = without(group.flags, "analyze.out", "report")
	return &command{
		name: "cmp", args: "BEFORE AFTER", section: sectionAnalysis,
		summary: "compare the op logs of two runs, or of two sets of runs",
		about: []string{
			"Differences are given as the change from BEFORE to AFTER, whichever is the older; parameters that",
			"differ between the runs are listed. One of the two may be - for standard input.",
			"",
			"Each may also be a folder of op logs or saved JSON reports, or a quoted pattern of their names.",
			"Then there is a verdict: better, worse, equivalent or undecided. Six runs a side are a good number.",
		},
		examples: []string{
			"warp cmp before.csv.zst after.csv.zst",
			"warp cmp 'before-*.csv.zst' 'after-*.csv.zst'",
			"warp cmp --analyze.op=GET --json before.csv.zst after.csv.zst",
		},
		groups: []flagGroup{{title: groupJudge, flags: append(judge.flags(),
			&cli.BoolFlag{Name: "paired", Destination: &paired, Usage: "the runs of the two sides are pairs, in the order of their names"})},
			group, {title: groupAssertions, flags: asserts.changeFlags()}},
		absent: append(absentFromAnalysis(), absentFlag{names: []string{"analyze.out"},
			why: "is a flag of analyze: cmp has two runs and would write one file"},
			absentFlag{names: []string{"report"}, why: "is a flag of analyze: cmp has one layout"}),
		minArgs: 2, maxArgs: 2, needs: "two op logs",
		run: func(ctx context.Context, inv *invocation) error {
			if inv.args[0] == "-" && inv.args[1] == "-" {
				return usageError("standard input cannot be both runs").tell("give the file of one of them")
			}
			if err := asserts.parse(true); err != nil {
				return err
			}
			o, err := judge.options(inv.env)
			if err != nil {
				return err
			}
			o.Paired, o.Hosts = paired, analysis.verbose
			return compareArguments(ctx, inv, &analysis, &asserts, o)
		},
	}
}

// compareArguments compares two runs, or judges two sets of them.
func compareArguments(ctx context.Context, inv *invocation, analysis *analysisFlags, asserts *assertFlags, o compare.Options) error {
	var sets [2]runSet
	var runs [2][]compare.Run
	for i, arg := range inv.args {
		var err error
		if sets[i], err = findRuns(arg); err != nil {
			return err
		}
	}
	for i := range sets {
		var err error
		if runs[i], err = sets[i].read(ctx, inv, analysis.options()); err != nil {
			return err
		}
	}
	if sets[0].one && sets[1].one {
		if len(asserts.all) > 0 {
			return usageError("--assert: a change is judged between two sets of runs, and there is one run a side").tell("give folders or patterns")
		}
		return inv.compareTwo(runs[0][0], runs[1][0], analysis, o.Default)
	}
	v, err := compare.Judge(runs[0], runs[1], o)
	if err != nil {
		return refused(err)
	}
	v.Before.Name, v.After.Name = sets[0].name, sets[1].name
	return both(inv.showVerdicts(v), inv.judgeChanges(v, asserts))
}

// compareTwo shows what changed between single runs, without a verdict.
func (inv *invocation) compareTwo(before, after compare.Run, analysis *analysisFlags, defaults aggregate.Defaults) error {
	for _, r := range []compare.Run{before, after} {
		for _, w := range r.Report.Warnings {
			inv.warnf("%s: %s", r.Name, w)
		}
	}
	c := aggregate.Compare(before.Report, after.Report, defaults)
	if why := aggregate.Incomparable(c.Parameters); why != "" {
		inv.warnf("%s", why)
	}
	return inv.result(func(w io.Writer) error {
		if inv.json {
			return report.ComparisonJSON(w, c)
		}
		return report.ComparisonText(w, c, inv.textOptions(analysis.verbose))
	})
}

// showVerdicts writes the result of a comparison of sets.
func (inv *invocation) showVerdicts(v *compare.Verdicts) error {
	inv.hide.strings(v)
	return inv.result(func(w io.Writer) error {
		if inv.json {
			return report.VerdictsJSON(w, v)
		}
		return report.VerdictsText(w, v, inv.textOptions(false))
	})
}

func (inv *invocation) textOptions(verbose bool) report.TextOptions {
	return report.TextOptions{Color: inv.outColor, Location: time.Local, Verbose: verbose, Width: inv.outWidth()}
}
