package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/aggregate"
	"warp/pkg/compare"
)

// A runSet is what an argument names: one run, or any number of them.
type runSet struct {
	name  string
	paths []string
	one   bool // the argument is a file, and no folder or pattern
}

// findRuns finds the files that an argument names. A file that exists is
// never a pattern: names of logs have brackets.
func findRuns(arg string) (runSet, error) {
	if arg == "-" {
		return runSet{arg, []string{arg}, true}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		paths, err := runsIn(arg)
		return runSet{name: arg, paths: paths}, err
	case err == nil || !strings.ContainsAny(arg, "*?["):
		return runSet{arg, []string{arg}, true}, nil
	}
	paths, err := filepath.Glob(arg)
	if err != nil {
		return runSet{}, exit.Usagef("%q is not a pattern of file names: %w", arg, err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		info, err := os.Stat(p)
		return err == nil && info.IsDir()
	})
	if len(paths) == 0 {
		return runSet{}, exit.Errorf("no file matches %q", arg)
	}
	return runSet{name: arg, paths: paths}, nil
}

// runsIn lists the logs and reports in a folder.
func runsIn(folder string) (paths []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, exit.Errorf("cannot read the folder %s: %w", folder, reason(err))
	}
	for _, e := range entries {
		if !e.IsDir() && isRunName(e.Name()) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, exit.Errorf("there is no op log and no report in the folder %s", folder).WithHint("these have names that end with .csv.zst, .csv.gz, .csv or .json")
	}
	return paths, nil
}

func isRunName(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".zst"), ".gz")
	return !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, ".json"))
}

// read analyses the runs, one after the other.
func (s *runSet) read(ctx context.Context, inv *command.Invocation, o aggregate.Options) (runs []compare.Run, err error) {
	for i, path := range s.paths {
		if !s.one {
			inv.Debugf("reading %s, %d of %d", path, i+1, len(s.paths))
		}
		r, err := analyzeFile(ctx, path, inv.In, o)
		if err != nil {
			return nil, err
		}
		runs = append(runs, compare.Run{Name: path, Report: r})
	}
	return runs, nil
}
