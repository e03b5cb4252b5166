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
func runCommand(env environment) *command {
	var vars []string
	return &command{
		name: runName, args: "FILE", section: sectionOther,
		summary: "run the benchmarks of a YAML file",
		about: []string{
			"Flags of benchmarks may follow and apply to all of them. Flags override the file, and the file",
			"overrides environment variables. The FILE - is standard input.",
		},
		examples: []string{"warp run suite.yml --var Size=1MiB --duration=30s"},
		groups: []flagGroup{{title: "File", flags: []cli.Flag{
			&flagtype.List{Name: "var", Destination: &vars, Usage: "replace {{.NAME}} in the file, given as `NAME=VALUE`; repeatable"},
		}}},
		absent:         absentFromBenchmarks(),
		forwardedFlags: benchmarkFlags(env),
		minArgs:        1, maxArgs: 1, needs: "one YAML file",
		run: func(context.Context, *invocation) error { return nil }, // runFile does it
	}
}

// benchmarkFlags are the flags of all benchmarks, each name once.
func benchmarkFlags(env environment) []cli.Flag {
	var all []cli.Flag
	seen := make(map[string]bool) // every start of warp comes here, and to search all for each takes 10 ms
	for _, c := range benchmarkTable(env) {
		for _, f := range c.flags() {
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
	line *commandLine
}

// runFile runs the benchmarks of a file in order. All of them are checked before the first one begins; the first that
// fails is the last. After a signal, which cancels ctx, no other one begins.
func (a *app) runFile(ctx context.Context, cancel context.CancelCauseFunc, line *commandLine, args []string, hide *redact.Redactor) error {
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
			err = r.line.parse(a.env)
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
func (a *app) planFile(ctx context.Context, line *commandLine, hide *redact.Redactor) ([]*fileRun, error) {
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
func (a *app) readRunFile(ctx context.Context, line *commandLine, hide *redact.Redactor) (*runfile.File, error) {
	vars := map[string]string{}
	for _, t := range line.tokens {
		if t.name != "var" {
			continue
		}
		name, value, ok := strings.Cut(t.value, "=")
		if !ok || !variableName.MatchString(name) {
			return nil, exit.Usagef("--var: this is not NAME=VALUE with a name of letters, digits and _")
		}
		vars[name] = value
		if redact.IsSecret(name) {
			hide.Add(value)
		}
	}
	name, text, err := a.readRunText(ctx, line.arguments()[0])
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
func (r *fileRun) scan(table []*command, typed *commandLine) error {
	r.line = &commandLine{table: table}
	var names []string
	for _, c := range table {
		if c.name == r.Name {
			r.line.command = c
		}
		if c.check != nil {
			names = append(names, c.name)
		}
	}
	c := r.line.command
	switch near := suggest.Closest(r.Name, names); {
	case c != nil && c.check == nil:
		return r.wrong(r.Line, "the command %s is no benchmark", r.Name).WithHint("run it by itself")
	case c == nil && near != "":
		return r.wrong(r.Line, "unknown benchmark %q", r.Name).WithHint("did you mean %s?", near)
	case c == nil:
		return r.wrong(r.Line, "unknown benchmark %q", r.Name).WithHint("warp --help lists the benchmarks")
	}
	var over []token
	for _, t := range typed.tokens {
		if t.name == "" || t.name == "var" {
			continue
		}
		if t.flag != nil {
			t.name = t.flag.Names()[0]
		}
		t.flag, t.early = c.lookup(t.name), false
		over = append(over, t)
	}
	for _, s := range r.Settings {
		tokens, err := r.tokens(c, &s)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(over, func(t token) bool { return t.flag == tokens[0].flag }) {
			r.line.tokens = append(r.line.tokens, tokens...)
			continue
		}
		for _, t := range tokens { // what is wrong is said, also where it does not count
			if err := r.line.setFlag(t); err != nil {
				return err
			}
		}
	}
	r.line.tokens = append(r.line.tokens, over...)
	return nil
}

// tokens are what a setting is on the command line.
func (r *fileRun) tokens(c *command, s *runfile.Setting) ([]token, error) {
	f := findFlag(c.flags(), s.Flag)
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
	var all []token
	for _, v := range values {
		all = append(all, token{flag: f, name: s.Flag, value: v, hasValue: true, from: fmt.Sprintf("%s:%d: %s", r.file, s.Line, s.Path)})
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

func (r *fileRun) unknownKey(c *command, s *runfile.Setting) error {
	for _, a := range c.absent {
		if slices.Contains(a.names, s.Flag) {
			return r.wrong(s.Line, "%s %s", s.Path, a.why)
		}
	}
	var flags, near []string
	for _, f := range c.flags() {
		flags = append(flags, f.Names()[0])
	}
	for _, k := range runfile.Keys(flags) {
		if k.Group == s.Group {
			near = append(near, k.Name)
		}
	}
	err := r.wrong(s.Line, "%s has no key %q in %s", c.name, s.Key, s.Section())
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
	if err := r.line.parse(a.env); err != nil {
		return err
	}
	c := r.line.command
	return c.check(c.output.JSON)
}

var mention = regexp.MustCompile(`--([a-z][a-z0-9]*(?:[.-][a-z0-9]+)*)(=?)`)

// explain words an error about flags for somebody who has written keys: those of the file get the names that they have
// there, and the first of them its line. Flags that were typed stay flags.
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
			used := slices.ContainsFunc(r.line.tokens, func(t token) bool { return t.name == part[1] && t.from != "" })
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
	for _, t := range r.line.tokens {
		if t.name == name {
			value, from = t.value, ""
			if t.from == "" {
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
	return flagValue(r.line.command.lookup("pprofdir"))
}

// output are the flags on output that the benchmark is run with, as far as they matter between benchmarks.
func (r *fileRun) output() console.Options {
	return console.Options{Quiet: r.on("quiet"), NoColor: r.on("no-color"), JSON: r.on("json")}
}

// on says whether a flag that is true or false is given as true.
func (r *fileRun) on(name string) (on bool) {
	for _, t := range r.line.tokens {
		if t.name == name {
			given, err := strconv.ParseBool(t.value)
			on = !t.hasValue || given && err == nil
		}
	}
	return on
}
