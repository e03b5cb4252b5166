package cli

import (
	"context"
	"io"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/report"
)

// cmpCommand shows what has changed from one op log to another.
func cmpCommand() *command {
	var analysis analysisFlags
	group := analysis.group()
	group.flags = without(group.flags, "analyze.out")
	return &command{
		name: "cmp", args: "BEFORE AFTER", section: sectionAnalysis,
		summary: "compare the op logs of two runs",
		about: []string{
			"Differences are given as the change from BEFORE to AFTER, whichever is the older; parameters that",
			"differ between the runs are listed. One of the two may be - for standard input.",
		},
		examples: []string{"warp cmp before.csv.zst after.csv.zst", "warp cmp --analyze.op=GET --json before.csv.zst after.csv.zst"},
		groups:   []flagGroup{group},
		absent: append(absentFromAnalysis(), absentFlag{names: []string{"analyze.out"},
			why: "is a flag of analyze: cmp has two runs and would write one file"}),
		minArgs: 2, maxArgs: 2, needs: "two op logs",
		run: func(ctx context.Context, inv *invocation) error {
			if inv.args[0] == "-" && inv.args[1] == "-" {
				return usageError("standard input cannot be both runs").tell("give the file of one of them")
			}
			return compare(ctx, inv, &analysis)
		},
	}
}

func compare(ctx context.Context, inv *invocation, analysis *analysisFlags) error {
	var reports [2]*aggregate.Report
	for i, path := range inv.args {
		r, err := analyzeFile(ctx, path, inv.in, analysis.options())
		if err != nil {
			return err
		}
		for _, w := range r.Warnings {
			inv.warnf("%s: %s", path, w)
		}
		reports[i] = r
	}
	comparison := aggregate.Compare(reports[0], reports[1])
	return inv.result(func(w io.Writer) error {
		if inv.json {
			return report.ComparisonJSON(w, comparison)
		}
		return report.ComparisonText(w, comparison, report.TextOptions{
			Color: inv.outColor, Location: time.Local, Verbose: analysis.verbose})
	})
}
