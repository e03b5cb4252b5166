package cli

import "context"

// analyzeCommand reports on one op log.
func analyzeCommand() *command {
	var analysis analysisFlags
	return &command{
		name: "analyze", args: "FILE", section: sectionAnalysis,
		summary: "report on the op log of a run",
		about: []string{
			"FILE is an op log: zstd, gzip or plain text; - is standard input. The report is the one that the",
			"run itself has shown, or what other flags make of the same requests.",
		},
		examples: []string{
			"warp analyze warp-get-2026-01-31[120000]-Zq3x.csv.zst",
			"warp analyze --analyze.op=PUT --analyze.dur=5s --json run.csv.zst",
			"zcat run.csv.gz | warp analyze -",
		},
		groups:  []flagGroup{analysis.group()},
		absent:  absentFromAnalysis(),
		minArgs: 1, maxArgs: 1, needs: "one op log",
		run: func(ctx context.Context, inv *invocation) error {
			if err := analysis.checkOut(); err != nil {
				return err
			}
			if err := analysis.tryOut(); err != nil {
				return err
			}
			report, err := analyzeFile(ctx, inv.args[0], inv.in, analysis.options())
			if err != nil {
				return err
			}
			if len(report.Operations) == 0 {
				return runError("%s: there are no requests in it, or none that --analyze.offset leaves", inv.args[0])
			}
			return inv.showReport(report, &analysis)
		},
	}
}
