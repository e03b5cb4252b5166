// Package suite reads the files of warp run, and makes command lines of the
// benchmarks in them.
package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/internal/suggest"
	"warp/internal/wholefile"
	"warp/pkg/runfile"
)

// Command is the command that runs the benchmarks of a file.
const Command = "run"

// A Benchmark is one benchmark of a file.
type Benchmark struct {
	runfile.Benchmark
	File   string
	Parsed *command.Line // its command line; set by Parse
	Sweep  *command.Line // the command line of the sweep around this benchmark; nil without one

	command *command.Command
	args    []setting // of the command line
}

// A setting is a flag with a value, from the file or from the command line.
type setting struct {
	command.Setting
	flag   cli.Flag
	inFile bool
}

// arguments returns settings as arguments.
func arguments(settings []setting) (args []string) {
	for _, s := range settings {
		args = append(args, s.Arg())
	}
	return args
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)

// Read reads the file that the command line names, - for in, and hides the secrets in it. warnf gets a line for each
// unused variable.
func Read(ctx context.Context, line *command.Line, in io.Reader, hide *redact.Redactor, warnf func(string, ...any)) (*runfile.File, error) {
	vars := map[string]string{}
	for _, s := range line.Flags {
		if s.Name != "var" {
			continue
		}
		name, value, ok := strings.Cut(s.Value, "=")
		if !ok || !variableName.MatchString(name) {
			return nil, exit.Usagef("--var: this is not NAME=VALUE with a name of letters, digits and _")
		}
		vars[name] = value
		if redact.IsSecret(name) {
			hide.Add(value)
		}
	}
	name, text, err := readText(ctx, line.Args[0], in)
	if err != nil {
		return nil, err
	}
	file, err := runfile.Parse(name, text, vars)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	for _, b := range file.Benchmarks {
		hideSecrets(b.Settings, vars, hide)
	}
	for _, name := range file.Unused {
		warnf("--var %s: %s has no such variable", name, file.Name)
	}
	return file, nil
}

// readText reads the file at path, - for in, and returns the name that messages use.
func readText(ctx context.Context, path string, in io.Reader) (name string, text []byte, err error) {
	if name = path; path == "-" {
		name = "stdin"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return "", nil, unreadable(err)
		}
		defer f.Close()
		in = f
	}
	text, err = wholefile.ReadAll(runlog.Cancelled(ctx, in), runfile.MaxBytes)
	if errors.As(err, new(*fs.PathError)) { // which names the file
		return name, text, unreadable(err)
	}
	if err != nil && ctx.Err() == nil {
		err = unreadable(fmt.Errorf("%s: %w", name, err))
	}
	return name, text, err
}

func unreadable(err error) error { return exit.Usagef("cannot read the file of warp run: %w", err) }

// hideSecrets hides the secrets among the settings, and the variables that they are made of.
func hideSecrets(settings []runfile.Setting, vars map[string]string, hide *redact.Redactor) {
	for _, s := range settings {
		if redact.HasURL(s.Flag) {
			for _, value := range s.Values {
				hide.AddURL(value)
			}
		}
		if !redact.IsSecret(s.Flag) {
			continue
		}
		hide.Add(s.Values...)
		for _, value := range vars {
			if strings.Contains(strings.Join(s.Values, ","), value) {
				hide.Add(value)
			}
		}
	}
}

// Parse parses the command line that the settings make with typed flags, which override them. own are arguments of
// this benchmark alone, which override both.
func (r *Benchmark) Parse(table *command.Table, typed []command.Setting, own ...string) error {
	if err := r.find(table); err != nil {
		return err
	}
	var inFile, sweep []setting
	for _, s := range r.Settings {
		of, values := &inFile, r.values
		if s.Group == sweepGroup {
			of, values = &sweep, r.sweepValues
		}
		all, err := values(table, &s)
		if err != nil {
			return err
		}
		*of = append(*of, all...)
	}
	args := append([]string{r.Name}, arguments(inFile)...)
	for _, t := range typed {
		if t.Name != "var" {
			args = append(args, t.Arg())
		}
	}
	line, err := table.Parse(append(args, own...))
	if err != nil {
		return err
	}
	over := line.Flags[len(inFile):]
	// Otherwise a list would keep the values of the file next to the values that override them.
	r.args = slices.DeleteFunc(inFile, func(s setting) bool {
		return slices.ContainsFunc(over, func(o command.Setting) bool { return o.Name == s.Name })
	})
	for _, o := range over {
		r.args = append(r.args, setting{Setting: o, flag: r.command.Lookup(o.Name)})
	}
	args = append(args[:1], arguments(r.args)...)
	if len(sweep) > 0 {
		r.Sweep, err = table.Parse(slices.Concat([]string{sweepGroup}, arguments(sweep), args))
		if err != nil {
			return err
		}
	}
	r.Parsed, err = table.Parse(args)
	return err
}

// sweepGroup is the group of the keys of a sweep, and the command that makes it.
const sweepGroup = "sweep"

// SweepKeys returns the keys of a sweep.
func SweepKeys() []string {
	return []string{"vary", "repeat", "pause", "logs", "show", "markdown", "csv", "html"}
}

// sweepValues returns a key of a sweep as it would be typed.
func (r *Benchmark) sweepValues(table *command.Table, s *runfile.Setting) ([]setting, error) {
	if !slices.Contains(SweepKeys(), s.Key) {
		err := r.wrong(s.Line, "a sweep has no key %q", s.Key)
		if near := suggest.Closest(s.Key, SweepKeys()); near != "" {
			return nil, err.WithHint("did you mean %s?", near)
		}
		return nil, err.WithHint("it has %s", strings.Join(SweepKeys(), ", "))
	}
	f := table.Find(sweepGroup).Lookup(s.Key)
	if _, repeatable := f.(*flagtype.List); s.List && !repeatable {
		return nil, r.wrong(s.Line, "%s wants %s, and is a list", s.Path, Expected(f))
	}
	return r.try(f, s, s.Values)
}

// find finds the command of the benchmark.
func (r *Benchmark) find(table *command.Table) error {
	r.command = table.Find(r.Name)
	var names []string
	for _, c := range table.Commands {
		if c.Check != nil {
			names = append(names, c.Name)
		}
	}
	switch near := suggest.Closest(r.Name, names); {
	case r.command != nil && r.command.Check == nil:
		return r.wrong(r.Line, "the command %s is not a benchmark", r.Name).WithHint("run it by itself")
	case r.command == nil && near != "":
		return r.wrong(r.Line, "unknown benchmark %q", r.Name).WithHint("did you mean %s?", near)
	case r.command == nil:
		return r.wrong(r.Line, "unknown benchmark %q", r.Name).WithHint("warp --help lists the benchmarks")
	}
	return nil
}

// values returns a key of the benchmark as it would be typed.
func (r *Benchmark) values(_ *command.Table, s *runfile.Setting) ([]setting, error) {
	f := command.FindFlag(r.command.Flags(), s.Flag)
	if f == nil || f.Names()[0] != s.Flag {
		return nil, r.unknownKey(r.command, s)
	}
	values := s.Values
	_, repeatable := f.(*flagtype.List)
	switch {
	case repeatable:
	case s.List && slices.Contains(ListFlags(), s.Flag):
		values = []string{strings.Join(values, ",")}
	case s.List:
		return nil, r.wrong(s.Line, "%s wants %s, and is a list", s.Path, Expected(f))
	}
	return r.try(f, s, values)
}

// try sets a flag to values of the file: an invalid one is an error even if it is overridden.
func (r *Benchmark) try(f cli.Flag, s *runfile.Setting, values []string) (all []setting, err error) {
	for _, value := range values {
		if err := command.Set(f, fmt.Sprintf("%s:%d: %s", r.File, s.Line, s.Path), value); err != nil {
			return nil, err
		}
		all = append(all, setting{Setting: command.Setting{Name: f.Names()[0], Value: value}, flag: f, inFile: true})
	}
	return all, nil
}

// ListFlags returns the flags that take a list in one value, separated by commas.
func ListFlags() []string {
	return []string{"host", "warp-client", "serverprof", "bucket", "source-ip"}
}

// Expected describes the values of a flag.
func Expected(f cli.Flag) string {
	switch f.(type) {
	case *flagtype.Size:
		return "a size such as 10MiB"
	case *flagtype.Duration:
		return "a duration such as 30s"
	}
	switch f.Get().(type) {
	case bool:
		return "true or false"
	case int, int64, uint, uint64:
		return "a whole number"
	case float64:
		return "a number"
	}
	return "one value"
}

func (r *Benchmark) unknownKey(c *command.Command, s *runfile.Setting) error {
	for _, a := range c.Absent {
		if slices.Contains(a.Names, s.Flag) {
			return r.wrong(s.Line, "%s %s", s.Path, a.Why)
		}
	}
	var near []string
	for _, k := range runfile.Keys(command.Names(c.Flags())) {
		if k.Group == s.Group {
			near = append(near, k.Name)
		}
	}
	err := r.wrong(s.Line, "%s has no key %q in %s", c.Name, s.Key, s.Section())
	if best := suggest.Closest(s.Key, near); best != "" {
		return err.WithHint("did you mean %s?", best)
	}
	return err.WithHint("docs/run.md lists the keys")
}

func (r *Benchmark) wrong(line int, format string, args ...any) *exit.Error {
	return exit.Usagef("%w", &runfile.Error{File: r.File, Line: line, Err: fmt.Errorf(format, args...)})
}

var mention = regexp.MustCompile(`--([a-z][a-z0-9]*(?:[.-][a-z0-9]+)*)(=?)`)

// Explain replaces flags in an error by the keys in the file that set them, and adds the line of the first one. Flags
// that were typed stay flags.
func (r *Benchmark) Explain(err error) error {
	if exit.Code(err) != exit.Usage {
		return err
	}
	text, at := err.Error(), ""
	if strings.HasPrefix(text, r.File+":") {
		return err
	}
	text = mention.ReplaceAllStringFunc(text, func(m string) string {
		part := mention.FindStringSubmatch(m)
		for _, s := range r.Settings {
			used := slices.ContainsFunc(r.args, func(a setting) bool { return a.Name == part[1] && a.inFile })
			if s.Flag != part[1] || !used {
				continue
			}
			if at == "" {
				at = fmt.Sprintf("%s:%d", r.File, s.Line)
			}
			if part[2] != "" {
				return s.Path + ": "
			}
			return s.Path
		}
		return m
	})
	if at == "" {
		at = fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Name)
	}
	return exit.Usagef("%s: %s", at, text)
}

// Differ returns an error if two benchmarks would write the same file or start at the same time.
func Differ(runs []*Benchmark) error {
	for _, name := range []string{"benchdata", "analyze.out", "html", "junit", "bmf", "gha", "stats-output", "syncstart", "pprofdir"} {
		seen := map[string]*Benchmark{}
		for _, r := range runs {
			value, from := r.value(name)
			hint := "leave it out or give each its own" + from
			if name == "pprofdir" {
				value, hint = r.profiles(), "profile only one of them, or give each its own"
			}
			if other := seen[value]; value != "" && other != nil {
				return r.wrong(r.Line, "%s has the same %s as %s in line %d", r.Name, name, other.Name, other.Line).WithHint("%s", hint)
			}
			seen[value] = r
		}
	}
	return nil
}

// value returns the last given value of a flag.
func (r *Benchmark) value(name string) (value, from string) {
	for _, s := range r.args {
		if s.Name == name {
			value, from = s.Value, ""
			if !s.inFile {
				from = ", which --" + name + " on the command line does not"
			}
		}
	}
	return value, from
}

// profiles returns the folder for profiles of warp itself; "" if there will be none.
func (r *Benchmark) profiles() string {
	if !slices.ContainsFunc([]string{"cpu", "mem", "block", "mutex", "threads", "trace"}, r.on) {
		return ""
	}
	return command.Value(r.command.Lookup("pprofdir"))
}

// Output returns the flags for output that matter between benchmarks.
func (r *Benchmark) Output() console.Options {
	return console.Options{Quiet: r.on("quiet"), NoColor: r.on("no-color"), JSON: r.on("json")}
}

// on reports whether a boolean flag is given as true.
func (r *Benchmark) on(name string) bool {
	value, _ := r.value(name)
	on, _ := strconv.ParseBool(value)
	return on
}

// Text returns a file for warp run with this benchmark only, its variables
// replaced and the overriding flags included. On a command line others would see
// the secrets in it.
func (r *Benchmark) Text() string {
	settings := map[string]any{"api": "v1", "benchmark": r.Name}
	for _, s := range r.args {
		if _, repeatable := s.flag.(*flagtype.List); repeatable {
			before, _ := settings[s.Name].([]string)
			settings[s.Name] = append(before, s.Value)
			continue
		}
		settings[s.Name] = s.Value
	}
	text, _ := json.Marshal(map[string]any{"warp": settings}) // YAML has all of JSON; texts cannot fail
	return strings.ReplaceAll(string(text), "{{", `{{"{{"}}`)
}
