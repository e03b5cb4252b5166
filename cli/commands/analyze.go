package commands

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/cli/session/webpage"
	"warp/pkg/results"
)

// analyzeCommand reports on one op log.
func analyzeCommand() *command.Command {
	var analysis reports.AnalysisFlags
	var asserts reports.AssertFlags
	var web webpage.Flags
	analysis.Asserts = &asserts
	return &command.Command{
		Name: "analyze", Args: "FILE [FILE…]", Section: command.SectionAnalysis,
		Summary: "report on the op log of a run",
		About: []string{
			"FILE is an op log: zstd, gzip or plain text; - is standard input. Without other flags the report",
			"equals the one at the end of the run. Several logs are merged first.",
		},
		Examples: []string{
			"warp analyze warp-get-2026-01-31[120000]-Zq3x.csv.zst",
			"warp analyze --analyze.op=PUT --analyze.dur=5s --json run.csv.zst",
			"zcat run.csv.gz | warp analyze -",
		},
		Groups:  []command.Group{analysis.Group().With(append(web.Flags(), analysis.CSV.Flag())...), asserts.Group()},
		MinArgs: 1, MaxArgs: -1, Needs: "at least one op log",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			analysis.HTML.Keep = web.Wanted()
			err := exit.First(
				web.Check,
				func() error { return analysis.CSV.Check(inv) },
				analysis.CheckOut, analysis.TryOut,
				func() error { return asserts.Parse(false, benchmarks.RequestNames()) },
				asserts.TryFiles,
			)
			if err != nil {
				return err
			}
			report, err := analyzeLogs(ctx, inv, &analysis)
			if err != nil {
				return err
			}
			if len(report.Operations) == 0 {
				return exit.Errorf("%s: it has no requests, or --analyze.offset skips all of them", strings.Join(inv.Args, ", "))
			}
			analysis.Log = strings.Join(inv.Args, ", ")
			log := ""
			if len(inv.Args) == 1 && inv.Args[0] != "-" {
				log = inv.Args[0]
			}
			err = reports.Conclude(inv, report, &analysis, &asserts, cmp.Or(report.Benchmark, "analyze"))
			return exit.Join(err, web.ShowRecorded(ctx, inv, analysis.HTML.Drawn, log))
		},
	}
}

// analyzeLogs analyses one log, or several as the one that merge makes of them.
func analyzeLogs(ctx context.Context, inv *command.Invocation, analysis *reports.AnalysisFlags) (*results.Report, error) {
	path, warnings, remove, err := oneLog(ctx, inv)
	if err != nil {
		return nil, err
	}
	defer remove()
	report, err := runlog.Analyze(ctx, path, inv.In, analysis.Options())
	if err == nil {
		for _, w := range warnings {
			if !slices.Contains(report.Warnings, w) {
				report.Warnings = append(report.Warnings, w)
			}
		}
	}
	return report, err
}

// oneLog returns the log that is named, or one that merge makes of several and
// remove removes.
func oneLog(ctx context.Context, inv *command.Invocation) (path string, warnings []string, remove func(), err error) {
	if len(inv.Args) == 1 {
		return inv.Args[0], nil, func() {}, nil
	}
	if slices.Contains(inv.Args, "-") {
		return "", nil, nil, exit.Usagef("standard input cannot be one of several logs").WithHint("give its file")
	}
	return mergedLog(ctx, inv.Args)
}

// mergedLog returns a log that merge makes of several, and that remove removes.
func mergedLog(ctx context.Context, paths []string) (path string, warnings []string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "warp-analyze-*")
	if err != nil {
		return "", nil, nil, exit.Errorf("cannot merge the logs: %w", files.Reason(err))
	}
	remove = func() { os.RemoveAll(folder) }
	stats, err := mergeTo(ctx, filepath.Join(folder, "merged.csv.zst"), paths)
	if err != nil {
		remove()
		return "", nil, nil, err
	}
	return stats.Path, stats.Warnings, remove, nil
}
