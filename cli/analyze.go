package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warp/pkg/aggregate"
)

// analyzeCommand reports on one op log.
func analyzeCommand() *command {
	var analysis analysisFlags
	var asserts assertFlags
	analysis.asserts = &asserts
	return &command{
		name: "analyze", args: "FILE [FILE…]", section: sectionAnalysis,
		summary: "report on the op log of a run",
		about: []string{
			"FILE is an op log: zstd, gzip or plain text; - is standard input. The report is the one that the",
			"run itself has shown, or what other flags make of the same requests. Several logs are reported on",
			"as merge would make one of them.",
		},
		examples: []string{
			"warp analyze warp-get-2026-01-31[120000]-Zq3x.csv.zst",
			"warp analyze --analyze.op=PUT --analyze.dur=5s --json run.csv.zst",
			"zcat run.csv.gz | warp analyze -",
		},
		groups:  []flagGroup{analysis.group(), asserts.group()},
		absent:  absentFromAnalysis(),
		minArgs: 1, maxArgs: -1, needs: "an op log or more",
		run: func(ctx context.Context, inv *invocation) error {
			if err := analysis.checkOut(); err != nil {
				return err
			}
			if err := analysis.tryOut(); err != nil {
				return err
			}
			if err := asserts.parse(false); err != nil {
				return err
			}
			if err := asserts.tryFiles(); err != nil {
				return err
			}
			report, err := analyzeLogs(ctx, inv, &analysis)
			if err != nil {
				return err
			}
			if len(report.Operations) == 0 {
				return runError("%s: there are no requests in it, or none that --analyze.offset leaves", strings.Join(inv.args, ", "))
			}
			return inv.conclude(report, &analysis, &asserts, cmp.Or(report.Benchmark, "analyze"))
		},
	}
}

// analyzeLogs analyses one log, or several as the one that merge makes of them.
func analyzeLogs(ctx context.Context, inv *invocation, analysis *analysisFlags) (*aggregate.Report, error) {
	if len(inv.args) == 1 {
		return analyzeFile(ctx, inv.args[0], inv.in, analysis.options())
	}
	if slices.Contains(inv.args, "-") {
		return nil, usageError("standard input cannot be one of several logs").tell("give its file")
	}
	folder, err := os.MkdirTemp("", "warp-analyze-*")
	if err != nil {
		return nil, runError("cannot merge the logs: %w", reason(err))
	}
	defer os.RemoveAll(folder)
	stats, err := mergeTo(ctx, filepath.Join(folder, "merged.csv.zst"), inv.args)
	if err != nil {
		return nil, err
	}
	report, err := analyzeFile(ctx, stats.Path, nil, analysis.options())
	if err == nil {
		for _, w := range stats.Warnings {
			if !slices.Contains(report.Warnings, w) {
				report.Warnings = append(report.Warnings, w)
			}
		}
	}
	return report, err
}
