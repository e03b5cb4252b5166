package runlog

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/series"
	"warp/pkg/aggregate"
	"warp/pkg/compare"
)

// A Set is one run, or any number of them, that an argument names.
type Set struct {
	Name  string
	Paths []string
	One   bool // the argument is a file, not a folder or pattern
	Named bool // the argument has a name for the set
}

var named = regexp.MustCompile(`^([^=/\\*?\[]+)=(.+)$`)

// FindNamed finds the sets that arguments name, as [Find] does, also NAME=PATTERN. It refuses two with the same name.
func FindNamed(args []string) (sets []Set, err error) {
	seen := map[string]bool{}
	stdin := 0
	for _, arg := range args {
		name, path := "", arg
		if m := named.FindStringSubmatch(arg); m != nil {
			if _, err := os.Stat(arg); err != nil {
				name, path = m[1], m[2]
			}
		}
		s, err := Find(path)
		if err != nil {
			return nil, err
		}
		if name != "" {
			s.Name, s.Named = name, true
		}
		if path == "-" {
			stdin++
		}
		if stdin > 1 {
			return nil, exit.Usagef("standard input is given twice").WithHint("give a file instead of the second -")
		}
		if seen[s.Name] && s.Named {
			return nil, exit.Usagef("two sets are called %s", s.Name).WithHint("give them different names")
		}
		seen[s.Name] = true
		sets = append(sets, s)
	}
	return sets, nil
}

// Find finds the files that an argument names. A file that exists is never a
// pattern, because names of logs have brackets.
func Find(arg string) (Set, error) {
	if arg == "-" {
		return Set{Name: arg, Paths: []string{arg}, One: true}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		paths, err := runsIn(arg)
		return Set{Name: arg, Paths: paths}, err
	case err == nil || !strings.ContainsAny(arg, "*?["):
		return Set{Name: arg, Paths: []string{arg}, One: true}, nil
	}
	paths, err := filepath.Glob(arg)
	if err != nil {
		return Set{}, exit.Usagef("%q is not a pattern of file names: %w", arg, err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		info, err := os.Stat(p)
		return err == nil && info.IsDir()
	})
	if len(paths) == 0 {
		return Set{}, exit.Errorf("no file matches %q", arg)
	}
	return Set{Name: arg, Paths: paths}, nil
}

// FindFolders finds the files that an argument names. In a folder, each folder of it that has runs, such as a baseline, is a
// set by its name.
func FindFolders(arg string) ([]Set, error) {
	entries, err := os.ReadDir(arg)
	if err != nil {
		s, err := Find(arg)
		return []Set{s}, err
	}
	var sets []Set
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		folder := filepath.Join(arg, e.Name())
		if paths, err := runsIn(folder); err == nil {
			sets = append(sets, Set{Name: e.Name(), Paths: paths, Named: true})
		}
	}
	paths, err := runsIn(arg)
	if err == nil {
		sets = append(sets, Set{Name: arg, Paths: paths})
	}
	if len(sets) > 0 {
		err = nil
	}
	return sets, err
}

// runsIn lists the logs and reports in a folder.
func runsIn(folder string) (paths []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, exit.Errorf("cannot read the folder %s: %w", folder, files.Reason(err))
	}
	for _, e := range entries {
		if !e.IsDir() && isRunName(e.Name()) && e.Name() != series.ManifestName {
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

// Read analyses the runs, one after the other, and refuses one without requests. Debugf reports progress. Damaged
// receives the warnings about files themselves, such as an incomplete end; nil if the caller shows all warnings of the reports.
func (s *Set) Read(ctx context.Context, in io.Reader, debugf, damaged func(format string, args ...any), o aggregate.Options) (runs []compare.Run, err error) {
	for i, path := range s.Paths {
		if !s.One {
			debugf("reading %s, %d of %d", path, i+1, len(s.Paths))
		}
		r, warnings, err := analyze(ctx, path, in, o)
		if err != nil {
			return nil, err
		}
		if len(r.Operations) == 0 {
			return nil, exit.Errorf("%s: it has no requests", path)
		}
		for _, w := range warnings {
			if damaged != nil {
				damaged("%s", w) // it names the file
			}
		}
		runs = append(runs, compare.Run{Name: path, Report: r})
	}
	return runs, nil
}
