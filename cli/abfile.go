package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/human"
)

// isRunFile says whether the argument of warp ab is a file and no benchmark.
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

// fileSides are the two benchmarks of a file of warp run. Flags for both count
// more than the file, and flags of one side more than either.
func (f *abFlags) fileSides(ctx context.Context, inv *command.Invocation, a *app, own [2][]string) (sides [2]side, err error) {
	typed := []string{runName, inv.Args[0]}
	for _, v := range f.vars {
		typed = append(typed, "--var="+v)
	}
	typed = append(typed, inv.ForwardedArgs...)
	file, err := a.readRunFile(ctx, a.table().Scan(typed), inv.Hide)
	if err != nil {
		return sides, err
	}
	if n := len(file.Benchmarks); n != len(sides) {
		return sides, exit.Usagef("%s has %s, and warp ab runs two in turns", file.Name, human.Plural(n, "benchmark")).WithHint("write both into one file, each with what only it has")
	}
	for i, b := range file.Benchmarks {
		if len(own[i]) > 0 && !strings.HasPrefix(own[i][0], "-") {
			return sides, exit.Usagef("%s names the benchmark %s, and the benchmarks are those of %s", sideFlag(i), own[i][0], file.Name).WithHint("give flags only")
		}
		r := &fileRun{Benchmark: b, file: file.Name}
		err := r.scan(a.table(), a.table().Scan(slices.Concat(typed, own[i])))
		if err == nil {
			err = checkSide(a.env, r.line)
		}
		if err != nil {
			return sides, r.explain(err)
		}
		sides[i] = side{benchmark: fmt.Sprintf("%s (%s:%d)", r.Name, r.file, r.Line), args: []string{runName, "-"}, in: r.text()}
	}
	return sides, nil
}

// text is a file for warp run that has this benchmark only, with its variables
// in place and the flags that count more. On a command line others would see
// the secrets in it.
func (r *fileRun) text() string {
	settings := map[string]any{"api": "v1", "benchmark": r.Name}
	for _, t := range r.line.Tokens {
		name, value := t.Flag.Names()[0], t.Value
		if !t.HasValue {
			value = "true"
		}
		if _, repeatable := t.Flag.(*flagtype.List); repeatable {
			before, _ := settings[name].([]string)
			settings[name] = append(before, value)
			continue
		}
		settings[name] = value
	}
	text, _ := json.Marshal(map[string]any{"warp": settings}) // YAML has all of JSON; texts cannot fail
	return strings.ReplaceAll(string(text), "{{", `{{"{{"}}`)
}
