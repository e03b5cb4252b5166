package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/commands/suite"
	"warp/cli/commands/trial"
	"warp/cli/exit"
	"warp/internal/human"
)

// isRunFile reports whether the argument of warp ab is a file, not a benchmark.
func isRunFile(table *command.Table, arg string) bool {
	if table.Find(arg) != nil {
		return false
	}
	if ext := filepath.Ext(arg); arg == "-" || ext == ".yml" || ext == ".yaml" {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir()
}

// fileSides returns the benchmarks of a file of warp run. Flags for all of them override the file, and flags of one side override
// both.
func (f *abFlags) fileSides(ctx context.Context, inv *command.Invocation, own [][]string) (sides []trial.Side, err error) {
	typed := []string{suite.Command, inv.Args[0]}
	for _, v := range f.vars {
		typed = append(typed, "--var="+v)
	}
	typed = append(typed, inv.ForwardedArgs...)
	line, err := Table(inv.Env).Parse(typed)
	if err != nil {
		return sides, err
	}
	file, err := suite.Read(ctx, line, inv.In, inv.Hide, inv.Warnf)
	if err != nil {
		return sides, err
	}
	n := len(file.Benchmarks)
	if n < 2 || n > len(f.sides) {
		return sides, exit.Usagef("%s has %s, but warp ab compares 2 to %d", file.Name, human.Plural(n, "benchmark"), len(f.sides)).WithHint("write each side as a benchmark of the file")
	}
	for i := n; i < len(f.sides); i++ {
		if f.sides[i] != (abSide{}) {
			return sides, exit.Usagef("%s is given, but %s has only %s", sideFlag(i), file.Name, human.Plural(n, "benchmark")).WithHint("leave it out")
		}
	}
	for i, b := range file.Benchmarks {
		if len(own[i]) > 0 && !strings.HasPrefix(own[i][0], "-") {
			return sides, exit.Usagef("%s names the benchmark %s, but %s names the benchmarks", sideFlag(i), own[i][0], file.Name).WithHint("give flags only")
		}
		r := &suite.Benchmark{Benchmark: b, File: file.Name}
		err := r.Parse(Table(inv.Env), line.Flags, own[i]...)
		if err == nil {
			err = checkMember(r.Parsed, "warp ab")
		}
		if err != nil {
			return sides, r.Explain(err)
		}
		sides = append(sides, trial.Side{Benchmark: fmt.Sprintf("%s (%s:%d)", r.Name, r.File, r.Line), Settings: settingsOf(r.Parsed), Length: benchmarks.LengthOf(r.Parsed.Command), Args: []string{suite.Command, "-"}, In: r.Text()})
	}
	return sides, nil
}
