package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/compare"
	"warp/pkg/report/printer"
)

// baselineFolder holds the baselines unless --dir names another folder.
const baselineFolder = "warp-baseline"

// baselineCommand keeps runs to compare later ones with.
func baselineCommand() *command.Command {
	var folder string
	var replace, allowFailed bool
	var judge reports.JudgeFlags
	var html reports.HTMLFlag
	return &command.Command{
		Name: "baseline", Args: "save|check NAME LOG…", Section: command.SectionAnalysis,
		Summary: "keep runs as a baseline, and check that later runs are no worse",
		About: []string{
			"save stores compact JSON reports of the runs under NAME. check compares other runs with them and",
			"exits with code 4 if they are worse, and with 5 if that is undecided. LOG is an op log, a saved",
			"report, a folder of these, or a quoted pattern.",
		},
		Examples: []string{"warp baseline save main 'run-*.csv.zst'", "warp baseline check main 'new-*.csv.zst'"},
		Groups: []command.Group{{Title: command.FilesTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Value: baselineFolder, Destination: &folder, TakesFile: true, Usage: "`FOLDER` that holds the baselines"},
			&cli.BoolFlag{Name: "replace", Destination: &replace, Usage: "save: replace an existing baseline of that name"},
			&cli.BoolFlag{Name: "allow-failed", Destination: &allowFailed, Usage: "save: accept runs with failed requests"},
			html.Flag(),
		}}, {Title: command.VerdictTitle, Flags: judge.Flags()}},
		Words:   []string{"save", "check"},
		MinArgs: 3, MaxArgs: -1, Needs: "save or check, a name, and op logs",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			name := inv.Args[1]
			if !baselineName.MatchString(name) {
				return exit.Usagef("%q is not a valid name for a baseline: use letters, digits, dots, _ and -, and begin with a letter or a digit", name)
			}
			o, err := judge.Options()
			if err != nil {
				return err
			}
			kept := filepath.Join(folder, name)
			switch inv.Args[0] {
			case "save":
				if html.Path != "" {
					return exit.Usagef("--html needs baseline check").WithHint("leave it out")
				}
				if !replace {
					if _, err := os.Stat(kept); err == nil {
						return exit.Errorf("baseline %s exists already", kept).WithHint("add --replace to replace it, or choose another name")
					}
				}
				runs, err := baselineRuns(ctx, inv, o, allowFailed)
				if err != nil {
					return err
				}
				return saveBaseline(inv, runs, kept, replace)
			case "check":
				if err := html.Ready(); err != nil {
					return err
				}
				return checkBaseline(ctx, inv, kept, o, &html)
			}
			return exit.Usagef("warp baseline does not know %q", inv.Args[0]).WithHint("write warp baseline save, or warp baseline check")
		},
	}
}

var baselineName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// readRuns reads the runs that the arguments after the name of a baseline name.
func readRuns(ctx context.Context, inv *command.Invocation, damaged func(format string, args ...any)) (runs []compare.Run, err error) {
	for _, arg := range inv.Args[2:] {
		set, err := runlog.Find(arg)
		if err != nil {
			return nil, err
		}
		read, err := set.Read(ctx, inv.In, inv.Debugf, damaged, aggregate.Options{})
		if err != nil {
			return nil, err
		}
		runs = append(runs, read...)
	}
	return runs, nil
}

// baselineRuns reads the runs to save. It refuses runs with failed requests unless they are allowed, and warns about
// everything else that would keep check from ever giving a verdict.
func baselineRuns(ctx context.Context, inv *command.Invocation, o compare.Options, allowFailed bool) ([]compare.Run, error) {
	runs, err := readRuns(ctx, inv, inv.Warnf)
	if err != nil {
		return nil, err
	}
	if err := compare.Distinct(runs); err != nil {
		return nil, reports.ExplainComparison(err)
	}
	for _, r := range runs {
		if n := compare.Failed(r.Report); n > 0 && !allowFailed {
			return nil, exit.Errorf("%s: %s failed in this run, so later runs would be compared with a store that did not work", r.Name, human.Count(n, "request", "requests")).
				WithHint("leave the run out, or save it anyway with --allow-failed")
		}
	}
	for _, why := range compare.Reservations(runs, o) {
		inv.Warnf("baseline check will give no verdict: %s", why)
	}
	for _, why := range compare.ClientsFigures(runs, o) {
		inv.Warnf("baseline check may give no verdict on %s", why)
	}
	return runs, nil
}

// saveBaseline writes the reports into a new folder, and puts that in its place
// once it is complete.
func saveBaseline(inv *command.Invocation, runs []compare.Run, kept string, replace bool) error {
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return exit.Errorf("cannot make the folder of the baseline: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(kept), ".saving-*")
	if err != nil {
		return exit.Errorf("cannot make the folder of the baseline: %w", err)
	}
	defer os.RemoveAll(temp)
	for i, r := range runs {
		compact := r.Report.Compact()
		inv.Hide.Strings(compact)
		err := files.WriteNew(filepath.Join(temp, fmt.Sprintf("%03d.json", i+1)), func(w io.Writer) error { return printer.JSON(w, compact) })
		if err != nil {
			return exit.Errorf("saving the baseline: %w", err)
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return exit.Errorf("saving the baseline: %w", err)
	}
	if replace {
		if err := os.RemoveAll(kept); err != nil {
			return exit.Errorf("cannot replace the baseline: %w", err)
		}
	}
	if err := os.Rename(temp, kept); err != nil {
		return exit.Errorf("saving the baseline: %w", err)
	}
	inv.Notef("%s saved to %s", human.Count(len(runs), "run", "runs"), kept)
	return nil
}

// checkBaseline compares runs with those that were saved.
func checkBaseline(ctx context.Context, inv *command.Invocation, kept string, o compare.Options, html *reports.HTMLFlag) error {
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		return exit.Errorf("there is no baseline %s", kept).WithHint("warp baseline save makes it")
	}
	saved, err := runlog.Find(kept)
	if err != nil {
		return err
	}
	before, err := saved.Read(ctx, inv.In, inv.Debugf, nil, aggregate.Options{})
	if err != nil {
		return err
	}
	after, err := readRuns(ctx, inv, nil)
	if err != nil {
		return err
	}
	o.SameWorkload = true
	v, err := compare.Judge(before, after, o)
	if err != nil {
		return reports.ExplainComparison(err)
	}
	v.Before.Name, v.After.Name = kept, strings.Join(inv.Args[2:], ", ")
	if err := reports.ShowVerdicts(inv, compare.Single(v), reports.Showing{HTML: html}); err != nil {
		return err
	}
	switch v.Verdict {
	case compare.Better, compare.Equivalent:
		return nil
	case compare.Worse:
		return exit.Withf(exit.Assertion, "worse than the baseline %s", kept)
	}
	return exit.Withf(exit.Undecided, "it is undecided whether the runs are worse than the baseline %s: %s", kept, v.Verdict)
}
