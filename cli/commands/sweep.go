package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/commands/sweeper"
	"warp/cli/exit"
	"warp/cli/files/series"
	"warp/cli/flagtype"
	"warp/cli/reports"
	"warp/cli/session/plan"
	"warp/cli/terminal/redact"
	"warp/internal/human"
	"warp/internal/suggest"
	"warp/pkg/bench"
	"warp/pkg/compare"
	"warp/pkg/sweep"
)

// sweepFlags say which points are measured, and how they are shown.
type sweepFlags struct {
	vary    []string
	repeats int
	pause   time.Duration
	folder  string
	resume  string
	dryRun  flagtype.Asked
	show    reports.SweepFlags
}

// sweepCommand runs a benchmark at many points.
func sweepCommand(benchmarkFlags []cli.Flag) *command.Command {
	f := &sweepFlags{}
	return &command.Command{
		Name: sweeper.Kind, Args: "[BENCHMARK|FOLDER [flags]]", Section: command.SectionOther,
		Summary: "run a benchmark at many points, such as concurrencies or sizes",
		About: []string{
			"Varies one or two flags of BENCHMARK. VALUES are a list a,b,c or a range FROM..TOxFACTOR or",
			"FROM..TO+STEP. Each run has an op log in a folder; with FOLDER, a sweep is shown again.",
		},
		Examples: []string{
			"warp sweep --vary concurrent=1..512x2 get --host=s3:9000 --obj.size=1MiB --duration=30s",
			"warp sweep --vary obj.size=4KiB,1MiB --vary concurrent=8,32 --repeat=3 put --host=s3:9000",
			"warp sweep --resume warp-sweep-20261123-210000-Zq3x",
		},
		Groups: []command.Group{{Title: "Points", Flags: []cli.Flag{
			&flagtype.List{Name: "vary", Destination: &f.vary, Usage: "vary a flag of the benchmark: `FLAG=VALUES`; repeatable"},
			&cli.IntFlag{Name: "repeat", Value: 1, Destination: &f.repeats, Validator: flagtype.AtLeast(1), Usage: "measure each point `N` times"},
		}}, {Title: command.RunTitle, Flags: []cli.Flag{
			&flagtype.Duration{Name: "pause", Value: 2 * time.Second, Destination: &f.pause, Usage: "pause for `TIME` between runs"},
			&cli.StringFlag{Name: "logs", Destination: &f.folder, DefaultText: "warp-sweep-TIME-ID", Usage: "keep the op logs in a new `FOLDER`"},
			&cli.StringFlag{Name: "resume", Destination: &f.resume, Usage: "make the missing runs of the sweep in `FOLDER`"},
			plan.Flag(&f.dryRun),
		}}, {Title: command.AnalysisTitle, Flags: f.show.Flags()}},
		ForwardedFlags: command.Without(benchmarkFlags, append(reports.RunAssertions(), "html", "dry-run")...),
		MinArgs:        0, MaxArgs: 1, Needs: "one benchmark, or the folder of a sweep",
		Run: func(ctx context.Context, inv *command.Invocation) error { return f.run(ctx, inv) },
	}
}

func (f *sweepFlags) run(ctx context.Context, inv *command.Invocation) error {
	if err := f.show.Check(inv.JSON); err != nil {
		return err
	}
	unknown := len(inv.Args) == 1 && Table(inv.Env).Find(inv.Args[0]) == nil
	again := unknown && series.Is(inv.Args[0])
	switch {
	case f.resume != "" && (len(inv.Args) > 0 || anyGiven(inv, "vary", "repeat", "pause", "logs")):
		return exit.Usagef("--resume cannot be combined with a benchmark, --vary, --repeat, --pause and --logs: it continues the sweep as planned")
	case f.resume != "":
		return f.resumed(ctx, inv)
	case again && (len(inv.ForwardedArgs) > 0 || anyGiven(inv, "vary", "repeat", "pause", "logs", "dry-run")):
		return exit.Usagef("%s is the folder of an earlier sweep, which can only be shown", inv.Args[0]).
			WithHint("leave out the flags that are not about the report, or use --resume=%s to measure what is missing", inv.Args[0])
	case again:
		r, err := sweeper.Read(ctx, inv, inv.Args[0], f.show.Choices)
		if err != nil {
			return err
		}
		return reports.ShowSweep(inv, r, &f.show)
	case len(inv.Args) == 0:
		return exit.Usagef("warp sweep needs a benchmark").WithHint("write warp sweep --vary concurrent=1..64x2 get …")
	case unknown && len(f.vary) == 0:
		return exit.Usagef("%s is neither a benchmark nor the folder of a sweep", inv.Args[0]).WithHint("warp --help lists the benchmarks")
	case len(f.vary) == 0:
		return exit.Usagef("warp sweep needs a flag to vary").WithHint("add --vary, such as --vary concurrent=1..64x2")
	}
	return f.begin(ctx, inv)
}

// anyGiven reports whether one of some flags is on the command line.
func anyGiven(inv *command.Invocation, names ...string) bool {
	return slices.ContainsFunc(names, inv.Command.WasGiven)
}

// begin plans a sweep and makes it.
func (f *sweepFlags) begin(ctx context.Context, inv *command.Invocation) error {
	base := slices.Concat(inv.Args, inv.ForwardedArgs)
	axes, err := f.axes(inv.Env, base)
	if err != nil {
		return err
	}
	plan := sweeper.Plan{Axes: axes, Repeats: f.repeats, Pause: f.pause}
	m, err := manifestOf(inv, sweeper.Kind, base)
	if err == nil {
		m.Plan, err = json.Marshal(plan)
	}
	if err != nil {
		return err
	}
	folder := &series.Folder{Path: cmp.Or(f.folder, folderName(sweeper.Kind)), Manifest: m}
	sweeper.AddRuns(folder, plan, m.Seed)
	if f.dryRun == "" {
		if folder, err = series.Create("--logs", folder.Path, folder.Manifest); err != nil {
			return err
		}
		defer folder.Close()
	}
	return f.make(ctx, inv, folder, base)
}

// axes returns the axes, after a check that the runs at all points would begin. base is the command line of the benchmark.
func (f *sweepFlags) axes(env command.Environment, base []string) ([]sweep.Axis, error) {
	check := checker(env, "warp sweep")
	c := Table(env).Find(base[0])
	if c == nil || c.Check == nil {
		_, err := check(base)
		return nil, err
	}
	axes, err := sweep.ParseAxes(f.vary, func(flag string) (sweep.Kind, error) { return kindOf(c, flag) })
	if err != nil {
		return nil, exit.Withf(exit.Usage, "--vary: %w", err)
	}
	for _, a := range axes {
		if hasFlag(base, a.Flag) {
			return nil, exit.Usagef("--%s and --vary=%[1]s cannot be combined", a.Flag)
		}
	}
	if n := sweep.Points(axes) * f.repeats; n > maxSweepRuns {
		return nil, exit.Usagef("%d runs are more than %d", n, maxSweepRuns)
	}
	return axes, sweeper.CheckPoints(base, axes, check)
}

// CheckSweep finds out whether the runs of a sweep would begin whose command line was parsed.
func CheckSweep(env command.Environment, line *command.Line) error {
	f := &sweepFlags{repeats: 1}
	for _, s := range line.Flags {
		switch s.Name {
		case "vary":
			f.vary = append(f.vary, s.Value)
		case "repeat":
			f.repeats, _ = strconv.Atoi(s.Value) // it was parsed
		}
	}
	if len(f.vary) == 0 {
		return exit.Usagef("the sweep has no flag to vary").WithHint("add vary, such as vary: concurrent=1..64x2")
	}
	_, err := f.axes(env, slices.Concat(line.Args, line.ForwardedArgs()))
	return err
}

// maxSweepRuns limits the runs of a sweep, whose names have up to five digits.
const maxSweepRuns = 10_000

// showPlan shows what would be done, what all runs send at most, and what the first of them would do.
func (f *sweepFlags) showPlan(ctx context.Context, inv *command.Invocation, s *sweeper.Sweep, base []string) error {
	line, err := parseMember(inv.Env, base, "warp sweep")
	if err != nil {
		return err
	}
	first, err := s.Plans(func(args []string) (*plan.DryRun, error) { return planMember(ctx, inv, args) })
	if err != nil {
		return err
	}
	d := planSeries(inv, line.Command)
	s.Describe(d.Say)
	if first != nil {
		d.Cost = s.Cost()
		if s.Fleet() {
			d.Say("the numbers that follow are for each client")
		}
		sayCost(d)
		d.Say("the first run:")
		sayMember(d, first)
	}
	return d.Show(inv, f.dryRun)
}

// sayCost adds what the runs of a sweep send together.
func sayCost(d *plan.DryRun) {
	c := d.Cost
	if c == nil {
		return
	}
	if c.Uploads > 0 {
		d.Say("all preparations together make %s", c.SayUploads())
	}
	switch {
	case c.Unlimited:
		d.Say("all runs together make as many %s requests as the store answers: no flag limits the number of each of them", c.Kinds())
	case c.Operations > 0:
		d.Say("all runs together make %s%s", c.SayOperations(""), c.SayRetries())
	default:
		d.Say("all runs together make %s%s", c.SayMeasured(true), c.SayRetries())
	}
	if c.Listings > 0 {
		d.Say("all clean-ups together make about %s", c.SayRemoval())
	}
}

// resumed makes the runs that are missing.
func (f *sweepFlags) resumed(ctx context.Context, inv *command.Invocation) error {
	folder, err := series.Open(f.resume, sweeper.Kind)
	if err != nil {
		return err
	}
	defer folder.Close()
	base := slices.Concat(folder.Benchmark, inv.ForwardedArgs)
	for _, name := range folder.Secrets {
		if !hasFlag(inv.ForwardedArgs, name) && !inEnvironment(inv, folder.Benchmark[0], name) {
			return exit.Usagef("the sweep was started with --%s, which its folder does not keep", name).WithHint("give --%s again", name)
		}
	}
	if folder.Warp != inv.Version {
		inv.Warnf("the sweep was started with warp %s, and this is warp %s", folder.Warp, inv.Version)
	}
	return f.make(ctx, inv, folder, base)
}

func inEnvironment(inv *command.Invocation, benchmark, name string) bool {
	c := Table(inv.Env).Find(benchmark)
	if c == nil || c.Lookup(name) == nil {
		return false
	}
	return slices.ContainsFunc(command.Variables(c.Lookup(name)), func(variable string) bool { return inv.Env.Value(variable) != "" })
}

// make makes the missing runs of a folder, and shows all of them.
func (f *sweepFlags) make(ctx context.Context, inv *command.Invocation, folder *series.Folder, base []string) error {
	s, err := sweeper.New(inv, folder, base, checker(inv.Env, "warp sweep"))
	if err != nil {
		return err
	}
	if f.dryRun != "" {
		return f.showPlan(ctx, inv, s, base)
	}
	if len(folder.Missing()) == 0 {
		inv.Notef("nothing is missing in %s", folder.Path)
	} else {
		s.Describe(inv.Notef)
	}
	failed := s.Run(ctx)
	r, err := s.Result(context.WithoutCancel(ctx), f.show.Choices)
	if err != nil {
		if failed != nil {
			return failed
		}
		return err
	}
	if n := len(folder.Missing()); n > 0 && errors.Is(failed, bench.ErrInterrupted) {
		inv.Notef("%s missing; warp sweep --resume %s makes them", human.Count(n, "run is", "runs are"), folder.Path)
	}
	return exit.Join(failed, reports.ShowSweep(inv, r, &f.show))
}

// checker checks command lines of benchmarks that are run as one of many.
func checker(env command.Environment, of string) sweeper.Check {
	return func(args []string) (*command.Line, error) {
		line, err := parseMember(env, args, of)
		if err == nil {
			err = line.Command.Check(false)
		}
		return line, err
	}
}

// parseMember parses the command line of a benchmark that is run as one of many.
func parseMember(env command.Environment, args []string, of string) (*command.Line, error) {
	table := Table(env)
	if c := table.Find(args[0]); c != nil && c.Check == nil {
		return nil, exit.Usagef("the command %s is not a benchmark", c.Name).WithHint("warp --help lists the benchmarks")
	}
	line, err := table.Parse(args)
	if err == nil {
		err = checkMemberFlags(line, of)
	}
	return line, err
}

// hasFlag reports whether arguments have a flag, written as --NAME=VALUE.
func hasFlag(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--"+name+"=") })
}

// kindOf returns the kind of a flag of a benchmark.
func kindOf(c *command.Command, name string) (sweep.Kind, error) {
	f := command.FindFlag(c.Flags(), name)
	switch {
	case f == nil:
		err := exit.Usagef("%s has no flag --%s", c.Name, name)
		if near := suggest.Closest(name, command.Names(c.Flags())); near != "" {
			return sweep.Kind{}, err.WithHint("did you mean %s?", near)
		}
		return sweep.Kind{}, err
	case f.Names()[0] != name:
		return sweep.Kind{}, exit.Usagef("--%s is another name of --%s", name, f.Names()[0]).WithHint("vary %s", f.Names()[0])
	case redact.IsSecret(name):
		return sweep.Kind{}, exit.Usagef("--%s is a secret, and the values of an axis are shown", name)
	}
	switch f.(type) {
	case *flagtype.Size:
		return sizes(), nil
	case *flagtype.Duration:
		return sweep.Kind{
			Parse:  func(s string) (float64, error) { d, err := time.ParseDuration(s); return d.Seconds(), err },
			Format: func(x float64) string { return human.Duration(time.Duration(x * float64(time.Second))) },
		}, nil
	}
	switch f.Get().(type) {
	case int, int64, uint, uint64:
		return numbers(true), nil
	case float64:
		return numbers(false), nil
	}
	if name == "obj.size" {
		k := sizes()
		k.HasCommas = func(s string) bool { return strings.HasPrefix(s, "exact:") || strings.HasPrefix(s, "lognormal:") }
		return k, nil
	}
	return sweep.Kind{}, nil
}

func sizes() sweep.Kind {
	return sweep.Kind{
		Parse:  func(s string) (float64, error) { n, err := flagtype.ParseSize(s); return float64(n), err },
		Format: func(x float64) string { return flagtype.FormatSize(int64(x)) }, Whole: true,
	}
}

func numbers(whole bool) sweep.Kind {
	what := "a number"
	if whole {
		what = "a whole number"
	}
	return sweep.Kind{
		Parse: func(s string) (float64, error) {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || whole && x != float64(int64(x)) {
				return 0, fmt.Errorf("%q is not %s", s, what)
			}
			return x, nil
		},
		Format: func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }, Whole: whole,
	}
}

// compareSweeps compares two folders of sweeps.
func compareSweeps(ctx context.Context, inv *command.Invocation, analysis *reports.AnalysisFlags, asserts *reports.AssertFlags, o compare.Options) error {
	switch {
	case len(inv.Args) != 2:
		return exit.Usagef("warp cmp compares two sweeps, but got %d arguments", len(inv.Args)).WithHint("give two folders")
	case o.Paired:
		return exit.Usagef("--paired: runs of two sweeps are compared point by point, and have no pairs").WithHint("leave it out")
	case len(asserts.All) > 0:
		return exit.Usagef("--assert: changes between sweeps have no assertions").WithHint("leave it out")
	case analysis.CSV.Wanted:
		return exit.Usagef("--csv: the comparison of two sweeps has no CSV").WithHint("use --json, or warp sweep --csv FOLDER for the figures of each")
	}
	var runs [2][]sweep.Measurement
	var axes [2][]sweep.Axis
	for i, path := range inv.Args {
		var err error
		if runs[i], axes[i], err = sweeper.Runs(ctx, inv, path); err != nil {
			return err
		}
	}
	c, err := sweep.Compare(runs[0], runs[1], axes, [2]string{inv.Args[0], inv.Args[1]}, o)
	if err != nil {
		return reports.ExplainComparison(err)
	}
	return reports.ShowSweepComparison(inv, c, &analysis.HTML)
}
