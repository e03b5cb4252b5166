package commands

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/compare"
	"warp/pkg/report/comparison"
	"warp/pkg/report/page"
)

// maxHistory is the maximum number of runs in a history. The time to look for changes grows with its square.
const maxHistory = 1000

// historyCommand shows runs over time.
func historyCommand() *command.Command {
	var judge reports.JudgeFlags
	var html reports.HTMLFlag
	var csv reports.CSVFlag
	return &command.Command{
		Name: "history", Args: "[LOG…]", Section: command.SectionAnalysis,
		Summary: "show runs over time, and when they became slower or faster",
		About: []string{
			"LOG is an op log, a saved report, a quoted pattern, or a folder of these or of baselines. Without",
			"LOG it is " + baselineFolder + ", the folder of warp baseline. Shows a line for each run, and finds changes of",
			"throughput, p50 and p99 with a test that gives a false alarm in one of a hundred histories.",
		},
		Examples: []string{"warp history", "warp history 'nightly/*.json' --html=history.html", "warp history nightly --csv > nightly.csv"},
		Groups: []command.Group{{Title: command.FilesTitle, Flags: []cli.Flag{csv.Flag(), html.Flag()}},
			{Title: command.VerdictTitle, Flags: command.Without(judge.Flags(), "force")}},
		MinArgs: 0, MaxArgs: -1, Needs: "op logs, or folders of them",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			var o compare.Options
			err := exit.First(
				func() error { return csv.Check(inv) },
				html.Ready,
				func() (err error) { o, err = judge.Options(); return err },
			)
			if err != nil {
				return err
			}
			runs, err := pastRuns(ctx, inv)
			if err != nil {
				return err
			}
			h, err := compare.NewHistory(runs, o)
			if err != nil {
				return reports.ExplainComparison(err)
			}
			return showHistory(inv, h, &csv, &html)
		},
	}
}

func showHistory(inv *command.Invocation, h *compare.History, csv *reports.CSVFlag, html *reports.HTMLFlag) error {
	text := func(w io.Writer) error {
		if csv.Wanted {
			return comparison.HistoryCSV(w, h)
		}
		return comparison.HistoryText(w, h, reports.TextOptions(inv, false))
	}
	return reports.Show(inv, h, text, html, func(o page.Options) *page.Page { return page.History(h, o) })
}

// pastRuns reads the runs that the arguments name. It leaves out files in folders and patterns that are not runs, with a warning.
func pastRuns(ctx context.Context, inv *command.Invocation) (all []compare.Past, err error) {
	args := inv.Args
	if len(args) == 0 {
		if _, err := os.Stat(baselineFolder); errors.Is(err, fs.ErrNotExist) {
			return nil, exit.Usagef("there are no baselines in %s", baselineFolder).WithHint("name op logs, reports or folders of them")
		}
		args = []string{baselineFolder}
	}
	var unread []error // of files that are no runs
	for _, arg := range args {
		sets, err := runlog.FindFolders(arg)
		if err != nil {
			return nil, err
		}
		for _, s := range sets {
			if len(all)+len(s.Paths) > maxHistory {
				return nil, exit.Usagef("these are more than %s", human.Plural(maxHistory, "run")).WithHint("name the latest ones with a pattern")
			}
			for i, path := range s.Paths {
				inv.Debugf("reading %s, %d of %d", path, i+1, len(s.Paths))
				one := runlog.Set{Name: s.Name, Paths: []string{path}, One: true}
				runs, err := one.Read(ctx, inv.In, inv.Debugf, inv.Warnf, aggregate.Options{})
				switch {
				case err != nil && (s.One || ctx.Err() != nil):
					return nil, err
				case err != nil:
					unread = append(unread, err)
					continue
				}
				all = append(all, pastRun(inv, &s, runs[0]))
			}
		}
	}
	if len(all) == 0 {
		return nil, unread[0]
	}
	sayUnread(inv, unread)
	return all, nil
}

// sayUnread warns about files that are left out.
func sayUnread(inv *command.Invocation, unread []error) {
	const shown = 5
	for i, err := range unread {
		if i == shown {
			inv.Warnf("left out: %s", human.Count(len(unread)-shown, "more file", "more files"))
			return
		}
		inv.Warnf("left out: %s", err)
	}
}

// pastRun makes a run of a set one of a history.
func pastRun(inv *command.Invocation, s *runlog.Set, r compare.Run) compare.Past {
	inv.Hide.Strings(r.Report)
	r.Report = r.Report.Compact()
	if s.Named {
		return compare.Past{Run: r, Set: s.Name, Label: s.Name}
	}
	return compare.Past{Run: r, Label: labelOf(r.Name)}
}

// defaultName matches the names of logs that the user did not name.
var defaultName = regexp.MustCompile(`^warp-.+-\d{4}-\d\d-\d\d\[\d{6}\]-(.+)$`)

// labelOf names a run as its file, without what all names of logs have.
func labelOf(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".zst", ".gz", ".csv", ".json"} {
		name = strings.TrimSuffix(name, ending)
	}
	if m := defaultName.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}
