package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/cli/benchmarks"
	"warp/cli/reports"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/commands/trial"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/compare"
)

// abFlags say which sides are run, and how often.
type abFlags struct {
	sides   [compare.MaxSets]abSide
	vars    []string // of a file
	trial   trial.Options
	judge   reports.JudgeFlags
	asserts reports.AssertFlags
	html    reports.HTMLFlag
}

// An abSide is the flags of one side.
type abSide struct{ command, setup string }

// abCommand runs two or more benchmarks alternately and judges which one is better.
func abCommand(benchmarkFlags []cli.Flag) *command.Command {
	f := &abFlags{}
	return &command.Command{
		Name: "ab", Args: "[BENCHMARK|FILE [flags]]", Section: command.SectionOther,
		Summary: "run two or more benchmarks alternately and say which is better",
		About: []string{
			"--a and --b are complete command lines, or only the flags that each adds to BENCHMARK and its flags.",
			"Or the sides are the benchmarks in FILE, a file of warp run. --c to --h add more sides.",
		},
		Examples: []string{
			"warp ab --a 'get --host=old:9000 --duration=1m' --b 'get --host=new:9000 --duration=1m'",
			"warp ab --max-pairs=16 --a=--host=old:9000 --b=--host=new:9000 get --duration=1m",
			"warp ab --a=--concurrent=8 --b=--concurrent=16 --c=--concurrent=32 get --duration=1m",
			"warp ab two.yml --duration=1m",
		},
		Groups: []command.Group{f.sideFlags(), {Title: command.RunTitle, Flags: []cli.Flag{
			&cli.IntFlag{Name: "pairs", Value: defaultPairs, Destination: &f.trial.Rounds, Validator: flagtype.AtLeast(1),
				DefaultText: fmt.Sprintf("%d, or more if many sides need them", defaultPairs), Usage: "run each side `N` times"},
			&cli.IntFlag{Name: "max-pairs", Destination: &f.trial.MaxRounds, Validator: flagtype.AtLeast(1), DefaultText: "as many as --pairs",
				Usage: "continue up to `N` pairs until decided"},
			&flagtype.Duration{Name: "pause", Value: 2 * time.Second, Destination: &f.trial.Pause, Usage: "pause for `TIME` between runs"},
			&cli.BoolFlag{Name: "aa", Destination: &f.trial.AA, Usage: "first compare side A with itself, in as many runs"},
			&cli.StringFlag{Name: "logs", Destination: &f.trial.Folder, DefaultText: "warp-ab-TIME-ID", Usage: "keep the op logs in a new `FOLDER`"},
			f.html.Flag(),
		}}, {Title: command.VerdictTitle, Flags: append(f.judge.Flags(),
			&cli.BoolFlag{Name: "all-pairs", Destination: &f.trial.AllPairs, Usage: "compare each side with all others, not only with the first"})},
			{Title: command.AssertionsTitle, Flags: f.asserts.ChangeFlags()}},
		ForwardedFlags: command.Without(benchmarkFlags, append(reports.RunAssertions(), "html")...),
		MinArgs:        0, MaxArgs: 1, Needs: "at most one benchmark or file",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			t, err := f.plan(ctx, inv)
			if err != nil {
				return err
			}
			c, err := t.Run(ctx)
			if c == nil {
				return err
			}
			return exit.Join(err, reports.ConcludeChanges(inv, c, &f.asserts, reports.Showing{HTML: &f.html}))
		},
	}
}

// defaultPairs are enough for verdicts on three metrics of up to three sides.
const defaultPairs = 8

// sideFlags returns the flags that describe the sides. The help names only the flags of the third side and further ones.
func (f *abFlags) sideFlags() command.Group {
	const usual = 2
	var commands, setups []cli.Flag
	for i := range f.sides {
		letter := trial.Letter(i)
		side := strings.ToUpper(letter)
		usage := "`COMMAND` or flags of side " + side + ", quoted as in a shell"
		if letter == "h" {
			usage += "; write --h=COMMAND, because -h asks for help"
		}
		commands = append(commands, &cli.StringFlag{Name: letter, Destination: &f.sides[i].command, Usage: usage})
		setups = append(setups, &cli.StringFlag{Name: letter + "-setup", Destination: &f.sides[i].setup, Usage: "shell `COMMAND` to run before each run of side " + side})
	}
	vars := &flagtype.List{Name: "var", Destination: &f.vars, Usage: "set a variable of the file, as `NAME=VALUE`; repeatable"}
	return command.Group{Title: "Sides", Flags: slices.Concat(commands[:usual], []cli.Flag{vars}, setups[:usual]), Also: slices.Concat(commands[usual:], setups[usual:])}
}

// plan checks everything before anything is run.
func (f *abFlags) plan(ctx context.Context, inv *command.Invocation) (*trial.Trial, error) {
	o := &f.trial
	err := exit.First(
		func() error { return f.asserts.Parse(true, benchmarks.RequestNames()) },
		f.html.Ready,
		func() (err error) { o.Compare, err = f.judge.Options(); return err },
	)
	if err != nil {
		return nil, err
	}
	f.asserts.Comparison(&o.Compare)
	if o.Sides, err = f.readSides(ctx, inv); err != nil {
		return nil, err
	}
	for i := range o.Sides {
		o.Sides[i].Setup = f.sides[i].setup
	}
	if !inv.Command.WasGiven("pairs") && !inv.Command.WasGiven("max-pairs") {
		o.Rounds = max(o.Rounds, o.Needed())
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.Folder = cmp.Or(o.Folder, folderName("ab"))
	return trial.New(inv, *o)
}

// readSides returns the sides, after checking that their runs would start.
func (f *abFlags) readSides(ctx context.Context, inv *command.Invocation) (sides []trial.Side, err error) {
	own := make([][]string, len(f.sides))
	for i, side := range f.sides {
		if own[i], err = shellquote.Split(side.command); err != nil {
			return nil, exit.Usagef("%s: %s", sideFlag(i), strings.ToLower(err.Error())).WithHint("quote it as for a shell")
		}
	}
	if len(inv.Args) > 0 && isRunFile(Table(inv.Env), inv.Args[0]) {
		return f.fileSides(ctx, inv, own)
	}
	if len(f.vars) > 0 {
		return nil, exit.Usagef("--var needs a file").WithHint("write warp ab FILE, or leave it out")
	}
	n, err := f.described()
	for i := 0; i < n && err == nil; i++ {
		var side trial.Side
		side, err = flagSide(inv, sideFlag(i), own[i])
		sides = append(sides, side)
	}
	return sides, err
}

// described returns the number of sides that flags describe, at least two. Sides without flags are A and B only.
func (f *abFlags) described() (n int, err error) {
	n = 2
	for i, side := range f.sides {
		switch {
		case side == abSide{}:
		case i > n:
			return 0, exit.Usagef("%s is given without %s", sideFlag(i), sideFlag(n)).WithHint("name the sides in the order of the alphabet")
		default:
			n = max(n, i+1)
		}
	}
	return n, nil
}

func sideFlag(i int) string { return "--" + trial.Letter(i) }

// flagSide returns a side that the command line describes.
func flagSide(inv *command.Invocation, flag string, own []string) (trial.Side, error) {
	args := slices.Concat(inv.Args, inv.ForwardedArgs, own)
	if len(own) > 0 && !strings.HasPrefix(own[0], "-") {
		if len(inv.Args) > 0 {
			return trial.Side{}, exit.Usagef("%s names the benchmark %s, but all sides already run %s", flag, own[0], inv.Args[0]).WithHint("give it once")
		}
		args = slices.Concat(own[:1], inv.ForwardedArgs, own[1:])
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return trial.Side{}, exit.Usagef("%s does not name a benchmark", flag).WithHint("write %s='get …', or the benchmark after the flags of warp ab", flag)
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
	return trial.Side{Benchmark: line.Command.Name, Settings: args, Length: benchmarks.LengthOf(line.Command), Args: args}, nil
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
	if err := checkMemberFlags(line, of); err != nil {
		return err
	}
	return line.Command.Check(false)
}

// checkMemberFlags refuses flags that are about a single run.
func checkMemberFlags(line *command.Line, of string) error {
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
	return nil
}
