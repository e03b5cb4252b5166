package commands

import (
	"cmp"
	"context"
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/cli/session"
	"warp/internal/human"
	"warp/pkg/oplog/merge"
	"warp/pkg/results"
)

// mergeCommand makes one op log of many.
func mergeCommand() *command.Command {
	var benchdata string
	var asserts reports.AssertFlags
	var html reports.HTMLFlag
	var layout string
	return &command.Command{
		Name: "merge", Args: "FILE FILE [FILE…]", Section: command.SectionAnalysis,
		Summary: "merge the op logs of several clients into one",
		About: []string{
			"The merged log is analysed as if one client had made all requests. If the logs come from different",
			"runs, only the time in which the runs overlap counts.",
		},
		Examples: []string{"warp merge client1.csv.zst client2.csv.zst --benchdata=both"},
		Groups: []command.Group{{Title: command.FilesTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "benchdata", Destination: &benchdata, TakesFile: true,
				DefaultText: "warp-merge-…", Usage: "write the merged log to `NAME`.csv.zst"},
			html.Flag(), reports.LayoutFlag(&layout),
		}}, asserts.Group()},
		MinArgs: 2, MaxArgs: -1, Needs: "at least two op logs",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			return mergeLogs(ctx, inv, benchdata, &asserts, &html, layout)
		},
	}
}

// mergeLogs merges, shows the path of the result, and judges assertions about it.
func mergeLogs(ctx context.Context, inv *command.Invocation, benchdata string, asserts *reports.AssertFlags, html *reports.HTMLFlag, layout string) error {
	path := runlog.Path(benchdata, "merge", session.NewID())
	err := exit.First(
		func() error { return asserts.Parse(false, benchmarks.RequestNames()) },
		func() error { return runlog.Ready(path) },
		asserts.TryFiles,
		html.Ready,
	)
	if err != nil {
		return err
	}
	stats, err := mergeTo(ctx, path, inv.Args)
	if err != nil {
		return err
	}
	for _, w := range stats.Warnings {
		inv.Warnf("%s", w)
	}
	shows := !inv.JSON && !inv.Quiet && reports.IsCompact(inv.Console, layout, false)
	if !shows {
		judged, verdict := asserts.JudgeLog(ctx, inv, stats.Path, "merge", html)
		return exit.Join(showMerged(inv, "merge", stats, judged), verdict)
	}
	if err := showMerged(inv, "merge", stats, nil); err != nil {
		return err
	}
	return reportMerged(ctx, inv, stats, asserts, html)
}

// reportMerged shows the report of the merged log, without warnings that were shown already.
func reportMerged(ctx context.Context, inv *command.Invocation, stats merge.Stats, asserts *reports.AssertFlags, html *reports.HTMLFlag) error {
	analysis := reports.AnalysisFlags{Layout: reports.Compact, Log: stats.Path, Asserts: asserts, HTML: *html}
	r, err := runlog.Analyze(ctx, stats.Path, nil, analysis.Options())
	if err != nil {
		return err
	}
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w string) bool { return slices.Contains(stats.Warnings, w) })
	return reports.Conclude(inv, r, &analysis, asserts, cmp.Or(r.Benchmark, "merge"))
}

// mergeTo merges logs into one at path.
func mergeTo(ctx context.Context, path string, logs []string) (merge.Stats, error) {
	return merge.Logs(ctx, path, logs, merge.Options{Open: runlog.OpenReader})
}

// showMerged shows the contents and the path of the merged log.
func showMerged(inv *command.Invocation, command string, s merge.Stats, assertions []results.Assertion) error {
	switch {
	case inv.JSON:
		return inv.ResultJSON(mergeResult{1, command, s.Path, s.Rows, s.Repeated, s.Runs, s.Clients, append([]string{}, s.Warnings...), assertions})
	case inv.Quiet:
		return reports.ShowAssertions(inv, assertions)
	}
	err := inv.Resultf("warp: %s of %s and %s merged into %q\n",
		human.Plural(s.Rows, "request"), human.Plural(s.Runs, "run"), human.Plural(s.Clients, "client"), s.Path)
	return exit.Join(err, reports.ShowAssertions(inv, assertions))
}

// mergeResult is the JSON document of merge.
type mergeResult struct {
	Version  int    `json:"version"`
	Command  string `json:"command"`
	File     string `json:"file"`
	Rows     int64  `json:"rows"`
	Repeated int64  `json:"repeated"` // rows that several inputs had, written once
	Runs     int    `json:"runs"`
	Clients  int    `json:"clients"`

	Warnings   []string            `json:"warnings"`
	Assertions []results.Assertion `json:"assertions,omitempty"`
}
