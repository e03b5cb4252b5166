package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"warp/cli/benchmarks"
	"warp/cli/reports"
	"warp/cli/session"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/commands/trial"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/compare"
)

// abFlags say what two sides are run, and how often.
type abFlags struct {
	a, b           string
	vars           []string // of a file
	aSetup, bSetup string
	trial          trial.Options
	judge          reports.JudgeFlags
	asserts        reports.AssertFlags
	html           reports.HTMLFlag
}

// abCommand runs two benchmarks alternately and judges which one is better.
func abCommand(benchmarkFlags []cli.Flag) *command.Command {
	f := &abFlags{}
	return &command.Command{
		Name: "ab", Args: "[BENCHMARK|FILE [flags]]", Section: command.SectionOther,
		Summary: "run two benchmarks alternately and say which is better",
		About: []string{
			"--a and --b are complete command lines, or only the flags that each adds to BENCHMARK and its flags.",
			"Or the sides are the two benchmarks in FILE, a file of warp run. Each run is a separate process.",
		},
		Examples: []string{
			"warp ab --a 'get --host=old:9000 --duration=1m' --b 'get --host=new:9000 --duration=1m'",
			"warp ab --max-pairs=16 --a=--host=old:9000 --b=--host=new:9000 get --duration=1m",
			"warp ab two.yml --duration=1m",
		},
		Groups: []command.Group{{Title: "Sides", Flags: []cli.Flag{
			&cli.StringFlag{Name: "a", Destination: &f.a, Usage: "`COMMAND` or flags of side A, quoted as in a shell"},
			&cli.StringFlag{Name: "b", Destination: &f.b, Usage: "`COMMAND` or flags of side B, quoted as in a shell"},
			&flagtype.List{Name: "var", Destination: &f.vars, Usage: "set the variable NAME of the file, given as `NAME=VALUE`; repeatable"},
			&cli.StringFlag{Name: "a-setup", Destination: &f.aSetup, Usage: "shell `COMMAND` to run before each run of side A"},
			&cli.StringFlag{Name: "b-setup", Destination: &f.bSetup, Usage: "shell `COMMAND` to run before each run of side B"},
		}}, {Title: command.RunTitle, Flags: []cli.Flag{
			&cli.IntFlag{Name: "pairs", Value: 8, Destination: &f.trial.Pairs, Validator: flagtype.AtLeast(1), Usage: "run each side `N` times"},
			&cli.IntFlag{Name: "max-pairs", Destination: &f.trial.MaxPairs, Validator: flagtype.AtLeast(1), DefaultText: "as many as --pairs",
				Usage: "continue up to `N` pairs until decided"},
			&flagtype.Duration{Name: "pause", Value: 2 * time.Second, Destination: &f.trial.Pause, Usage: "pause for `TIME` between runs"},
			&cli.BoolFlag{Name: "aa", Destination: &f.trial.AA, Usage: "first compare side A with itself, with as many runs"},
			&cli.StringFlag{Name: "logs", Destination: &f.trial.Folder, DefaultText: "warp-ab-TIME-ID", Usage: "keep the op logs in a new `FOLDER`"},
			f.html.Flag(),
		}}, {Title: command.VerdictTitle, Flags: f.judge.Flags()}, {Title: command.AssertionsTitle, Flags: f.asserts.ChangeFlags()}},
		ForwardedFlags: command.Without(benchmarkFlags, append(reports.RunAssertions(), "html")...),
		MinArgs:        0, MaxArgs: 1, Needs: "at most one benchmark or file",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			t, err := f.plan(ctx, inv)
			if err != nil {
				return err
			}
			v, err := t.Run(ctx)
			if v == nil {
				return err
			}
			return exit.Join(err, reports.ConcludeChanges(inv, compare.Single(v), &f.asserts, reports.Showing{HTML: &f.html}))
		},
	}
}

// plan checks everything before anything is run.
func (f *abFlags) plan(ctx context.Context, inv *command.Invocation) (*trial.Trial, error) {
	o := &f.trial
	if err := o.Check(); err != nil {
		return nil, err
	}
	err := f.asserts.Parse(true, benchmarks.RequestNames())
	if err == nil {
		err = f.html.Ready()
	}
	if err != nil {
		return nil, err
	}
	if o.Compare, err = f.judge.Options(flagDefaults()); err != nil {
		return nil, err
	}
	f.asserts.Comparison(&o.Compare)
	if o.Sides, err = f.twoSides(ctx, inv); err != nil {
		return nil, err
	}
	o.Sides[0].Setup, o.Sides[1].Setup = f.aSetup, f.bSetup
	if o.Folder == "" {
		// Without the brackets of names of logs, which patterns of names take for sets.
		o.Folder = "warp-ab-" + time.Now().Format("20060102-150405") + "-" + session.NewID()
	}
	return trial.New(inv, *o)
}

// twoSides returns both sides, after checking that their runs would start.
func (f *abFlags) twoSides(ctx context.Context, inv *command.Invocation) (sides [2]trial.Side, err error) {
	var own [2][]string
	for i, text := range []string{f.a, f.b} {
		if own[i], err = shellquote.Split(text); err != nil {
			return sides, exit.Usagef("%s: %s", sideFlag(i), strings.ToLower(err.Error())).WithHint("quote it as for a shell")
		}
	}
	if len(inv.Args) > 0 && isRunFile(Table(inv.Env), inv.Args[0]) {
		return f.fileSides(ctx, inv, own)
	}
	if len(f.vars) > 0 {
		return sides, exit.Usagef("--var needs a file").WithHint("write warp ab FILE, or leave it out")
	}
	for i := range sides {
		if sides[i], err = flagSide(inv, sideFlag(i), own[i]); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

func sideFlag(i int) string { return "--" + string("ab"[i]) }

// flagSide is a side that the command line describes.
func flagSide(inv *command.Invocation, flag string, own []string) (trial.Side, error) {
	args := slices.Concat(inv.Args, inv.ForwardedArgs, own)
	if len(own) > 0 && !strings.HasPrefix(own[0], "-") {
		if len(inv.Args) > 0 {
			return trial.Side{}, exit.Usagef("%s names the benchmark %s, and %s is there for both sides", flag, own[0], inv.Args[0]).WithHint("give it once")
		}
		args = slices.Concat(own[:1], inv.ForwardedArgs, own[1:])
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return trial.Side{}, exit.Usagef("%s does not name a benchmark", flag).WithHint("write %s 'get …', or the benchmark after the flags of warp ab", flag)
	}
	table := Table(inv.Env)
	line, err := table.Parse(args)
	if c := table.Find(args[0]); c != nil && c.Check == nil {
		return trial.Side{}, exit.Usagef("%s: the command %s is not a benchmark", flag, c.Name)
	}
	if err == nil {
		err = checkMember(line, "warp ab")
	}
	if err != nil {
		return trial.Side{}, exit.Withf(exit.Code(err), "%s: %w", flag, err)
	}
	return trial.Side{Benchmark: line.Command.Name, Settings: args, Length: lengthOf(line.Command), Args: args}, nil
}

// lengthOf returns how long a run of a benchmark takes whose command line was parsed and checked, or 0 if its time is
// not limited.
func lengthOf(c *command.Command) time.Duration {
	length, _ := c.Lookup("duration").Get().(time.Duration)
	return length
}

// settingsOf writes a command line with the settings of a file.
func settingsOf(line *command.Line) (args []string) {
	args = append(args, line.Command.Name)
	for _, f := range line.Flags {
		args = append(args, f.Arg())
	}
	return args
}

// checkMember finds out whether a benchmark would begin as one of the runs of a command.
func checkMember(line *command.Line, of string) error {
	for _, name := range reports.RunAssertions() {
		if line.Command.WasGiven(name) {
			err := exit.Usagef("--%s is about a single run", name)
			if of == "warp ab" {
				return err.WithHint("give --assert to warp ab, about the change, such as 'GET.p99.change<+5%%'")
			}
			return err.WithHint("leave it out")
		}
	}
	for _, name := range []string{"benchdata", "stress", "stdout", "dry-run", "json", "analyze.out", "html", "web", "serve", "stats-output", "syncstart", "forever", "pprofdir", "upload"} {
		if line.Command.WasGiven(name) {
			return exit.Usagef("--%s cannot be used in %s, which makes many runs", name, of).WithHint("leave it out")
		}
	}
	return line.Command.Check(false)
}
