package cli

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/console"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/redact"
	"warp/internal/human"
	"warp/internal/suggest"
	"warp/pkg/bench"
	"warp/pkg/runfile"
)

// runName is the command that takes the flags of the benchmarks in its file.
const runName = "run"

// runCommand runs the benchmarks of a file. What it is given besides --var goes to each of them.
func runCommand(env command.Environment) *command.Command {
	var vars []string
	return &command.Command{
		Name: runName, Args: "FILE", Section: command.SectionOther,
		Summary: "run the benchmarks of a YAML file",
		About: []string{
			"Flags of benchmarks may follow and apply to all of them. Flags override the file, and the file",
			"overrides environment variables. The FILE - is standard input.",
		},
		Examples: []string{"warp run suite.yml --var Size=1MiB --duration=30s"},
		Groups: []command.Group{{Title: "File", Flags: []cli.Flag{
			&flagtype.List{Name: "var", Destination: &vars, Usage: "replace {{.NAME}} in the file, given as `NAME=VALUE`; repeatable"},
		}}},
		Absent:         absentFromBenchmarks(),
		ForwardedFlags: benchmarkFlags(env),
		MinArgs:        1, MaxArgs: 1, Needs: "one YAML file",
		Run: func(context.Context, *command.Invocation) error { return nil }, // runFile does it
	}
}

// benchmarkFlags are the flags of all benchmarks, each name once.
func benchmarkFlags(env command.Environment) []cli.Flag {
	var all []cli.Flag
	seen := make(map[string]bool) // every start of warp comes here, and to search all for each takes 10 ms
	for _, c := range benchmarkTable(env) {
		for _, f := range c.Flags() {
			names := f.Names()
			if !seen[names[0]] {
				all = append(all, f)
			}
			for _, name := range names {
				seen[name] = true
			}
		}
	}
	return all
}

// A fileRun is one benchmark of a file with the command line that it amounts to.
type fileRun struct {
	runfile.Benchmark
	file string
	line *command.Line
}

// runFile runs the benchmarks of a file in order. All of them are checked before the first one begins; the first that
// fails is the last. After a signal, which cancels ctx, no other one begins.
func (a *app) runFile(ctx context.Context, cancel context.CancelCauseFunc, line *command.Line, args []string, hide *redact.Redactor) error {
	stop := a.watchSignals(cancel, a.console(console.Options{}, hide))
	runs, err := a.planFile(ctx, line, hide)
	stop()
	if err != nil {
		return err
	}
	for i, r := range runs {
		if context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if len(runs) > 1 {
			a.console(runs[i].output(), hide).Notef("benchmark %d of %d: %s (%s:%d)", i+1, len(runs), r.Name, r.file, r.Line)
		}
		// Whether it would begin was tried on flags that it may have changed.
		err := r.scan(a.table(), line)
		if err == nil {
			err = r.line.Parse(a.env)
		}
		if err == nil {
			err = a.run(ctx, cancel, r.line, args, hide)
		}
		if err != nil {
			err = r.explain(err)
			if left := len(runs) - i - 1; left > 0 && err != bench.ErrInterrupted {
				err = fmt.Errorf("%w (the %s after it did not run)", err, human.Plural(left, "benchmark"))
			}
			return err
		}
	}
	return nil
}

// planFile finds out whether the benchmarks of a file would begin.
func (a *app) planFile(ctx context.Context, line *command.Line, hide *redact.Redactor) ([]*fileRun, error) {
	file, err := a.readRunFile(ctx, line, hide)
	if err != nil {
		return nil, err
	}
	runs := make([]*fileRun, len(file.Benchmarks))
	for i, b := range file.Benchmarks {
		runs[i] = &fileRun{Benchmark: b, file: file.Name}
		if err := runs[i].scan(a.table(), line); err != nil {
			return nil, err
		}
		if err := a.checkFileRun(runs[i]); err != nil {
			return nil, runs[i].explain(err)
		}
	}
	return runs, differ(runs)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)

// readRunFile reads the file that the command line names, and keeps the secrets in it.
func (a *app) readRunFile(ctx context.Context, line *command.Line, hide *redact.Redactor) (*runfile.File, error) {
	vars := map[string]string{}
	for _, t := range line.Tokens {
		if t.Name != "var" {
			continue
		}
		name, value, ok := strings.Cut(t.Value, "=")
		if !ok || !variableName.MatchString(name) {
			return nil, exit.Usagef("--var: this is not NAME=VALUE with a name of letters, digits and _")
		}
		vars[name] = value
		if redact.IsSecret(name) {
			hide.Add(value)
		}
	}
	name, text, err := a.readRunText(ctx, line.Arguments()[0])
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
		a.console(console.Options{}, hide).Warnf("--var %s: %s has no such variable", name, file.Name)
	}
	return file, nil
}

// readRunText reads a file, or standard input, and how to call it.
func (a *app) readRunText(ctx context.Context, path string) (name string, text []byte, err error) {
	in := a.in
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
	text, err = readAll(ctx, in, runfile.MaxBytes+1)
	if err != nil && ctx.Err() == nil {
		err = unreadable(err)
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

// scan makes a command line of the settings, and of the flags of typed, which count more.
func (r *fileRun) scan(table *command.Table, typed *command.Line) error {
	r.line = &command.Line{Table: table}
	var names []string
	for _, c := range table.Commands {
		if c.Name == r.Name {
			r.line.Command = c
		}
		if c.Check != nil {
			names = append(names, c.Name)
		}
	}
	c := r.line.Command
	switch near := suggest.Closest(r.Name, names); {
	case c != nil && c.Check == nil:
		return r.wrong(r.Line, "the command %s is no benchmark", r.Name).WithHint("run it by itself")
	case c == nil && near != "":
		return r.wrong(r.Line, "unknown benchmark %q", r.Name).WithHint("did you mean %s?", near)
	case c == nil:
		return r.wrong(r.Line, "unknown benchmark %q", r.Name).WithHint("warp --help lists the benchmarks")
	}
	var over []command.Token
	for _, t := range typed.Tokens {
		if t.Name == "" || t.Name == "var" {
			continue
		}
		if t.Flag != nil {
			t.Name = t.Flag.Names()[0]
		}
		t.Flag, t.Early = c.Lookup(t.Name), false
		over = append(over, t)
	}
	for _, s := range r.Settings {
		tokens, err := r.tokens(c, &s)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(over, func(t command.Token) bool { return t.Flag == tokens[0].Flag }) {
			r.line.Tokens = append(r.line.Tokens, tokens...)
			continue
		}
		for _, t := range tokens { // what is wrong is said, also where it does not count
			if err := r.line.SetFlag(t); err != nil {
				return err
			}
		}
	}
	r.line.Tokens = append(r.line.Tokens, over...)
	return nil
}

// tokens are what a setting is on the command line.
func (r *fileRun) tokens(c *command.Command, s *runfile.Setting) ([]command.Token, error) {
	f := command.FindFlag(c.Flags(), s.Flag)
	if f == nil || f.Names()[0] != s.Flag {
		return nil, r.unknownKey(c, s)
	}
	values := s.Values
	_, repeatable := f.(*flagtype.List)
	switch {
	case repeatable:
	case s.List && slices.Contains(listFlags(), s.Flag):
		values = []string{strings.Join(values, ",")}
	case s.List:
		return nil, r.wrong(s.Line, "%s wants %s, and is a list", s.Path, expected(f))
	}
	var all []command.Token
	for _, v := range values {
		all = append(all, command.Token{Flag: f, Name: s.Flag, Value: v, HasValue: true, From: fmt.Sprintf("%s:%d: %s", r.file, s.Line, s.Path)})
	}
	return all, nil
}

// listFlags take a list in one value, with commas between.
func listFlags() []string {
	return []string{"host", "warp-client", "serverprof", "bucket", "source-ip"}
}

// expected says what a flag takes.
func expected(f cli.Flag) string {
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

func (r *fileRun) unknownKey(c *command.Command, s *runfile.Setting) error {
	for _, a := range c.Absent {
		if slices.Contains(a.Names, s.Flag) {
			return r.wrong(s.Line, "%s %s", s.Path, a.Why)
		}
	}
	var flags, near []string
	for _, f := range c.Flags() {
		flags = append(flags, f.Names()[0])
	}
	for _, k := range runfile.Keys(flags) {
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

func (r *fileRun) wrong(line int, format string, args ...any) *exit.Error {
	return exit.Usagef("%w", &runfile.Error{File: r.file, Line: line, Err: fmt.Errorf(format, args...)})
}

// checkFileRun finds out whether the benchmark would begin.
func (a *app) checkFileRun(r *fileRun) error {
	if err := r.line.Parse(a.env); err != nil {
		return err
	}
	c := r.line.Command
	return c.Check(c.Output.JSON)
}

var mention = regexp.MustCompile(`--([a-z][a-z0-9]*(?:[.-][a-z0-9]+)*)(=?)`)

// explain words an error about flags for somebody who has written keys: flags from the file get the names of their
// keys, and the first of them its line. Flags that were typed stay flags.
func (r *fileRun) explain(err error) error {
	if exit.Code(err) != exit.Usage {
		return err
	}
	text, at := err.Error(), ""
	if strings.HasPrefix(text, r.file+":") {
		return err
	}
	text = mention.ReplaceAllStringFunc(text, func(m string) string {
		part := mention.FindStringSubmatch(m)
		for _, s := range r.Settings {
			used := slices.ContainsFunc(r.line.Tokens, func(t command.Token) bool { return t.Name == part[1] && t.From != "" })
			if s.Flag != part[1] || !used {
				continue
			}
			if at == "" {
				at = fmt.Sprintf("%s:%d", r.file, s.Line)
			}
			if part[2] != "" {
				return s.Path + ": "
			}
			return s.Path
		}
		return m
	})
	if at == "" {
		at = fmt.Sprintf("%s:%d: %s", r.file, r.Line, r.Name)
	}
	return exit.Usagef("%s: %s", at, text)
}

// differ refuses benchmarks that would write the same file, or begin at the same time.
func differ(runs []*fileRun) error {
	for _, name := range []string{"benchdata", "analyze.out", "html", "junit", "bmf", "gha", "stats-output", "syncstart", "pprofdir"} {
		seen := map[string]*fileRun{}
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

// value is the last value of a flag that is given.
func (r *fileRun) value(name string) (value, from string) {
	for _, t := range r.line.Tokens {
		if t.Name == name {
			value, from = t.Value, ""
			if t.From == "" {
				from = ", which --" + name + " on the command line does not"
			}
		}
	}
	return value, from
}

// profiles is the folder for profiles of warp itself, where there will be any.
func (r *fileRun) profiles() string {
	if !slices.ContainsFunc([]string{"cpu", "mem", "block", "mutex", "threads", "trace"}, r.on) {
		return ""
	}
	return command.Value(r.line.Command.Lookup("pprofdir"))
}

// output are the flags on output that the benchmark is run with, as far as they matter between benchmarks.
func (r *fileRun) output() console.Options {
	return console.Options{Quiet: r.on("quiet"), NoColor: r.on("no-color"), JSON: r.on("json")}
}

// on says whether a flag that is true or false is given as true.
func (r *fileRun) on(name string) (on bool) {
	for _, t := range r.line.Tokens {
		if t.Name == name {
			given, err := strconv.ParseBool(t.Value)
			on = !t.HasValue || given && err == nil
		}
	}
	return on
}
