package benchmarks

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/cli/session"
	"warp/cli/session/plan"
	"warp/internal/wholefile"
	"warp/pkg/bench"
	"warp/pkg/script"
	"warp/pkg/store/engines"
)

// scriptFlags are the flags of warp script. The target and the recorded
// data are the same as for every benchmark.
type scriptFlags struct {
	Flags
	text, input, implementation string
	virtualThreads              bool
}

func scriptCommand(env command.Environment) *command.Command {
	f := &scriptFlags{}
	c := &command.Command{}
	f.Target.Given = c.WasGiven
	*c = command.Command{
		Name: "script", Args: "[SCRIPT]", Section: command.SectionBenchmark,
		Summary: "run a script of PUT, GET and DELETE statements",
		About: []string{
			"Statements run one after the other over the same objects. The script is the argument, --script, the",
			"content of --input, or standard input. Objects stay in the bucket until a DELETE.",
		},
		Examples: []string{
			"warp script --host=s3:9000 'PUT 9 OBJECTS; GET RUNTIME 1 MINUTE; DELETE'",
			"warp script --host=s3:9000 --bucket=demo --input=nightly.script",
		},
		Groups: []command.Group{
			{Title: command.WorkloadTitle, Flags: []cli.Flag{
				&cli.StringFlag{Name: "input", Aliases: []string{"i"}, Destination: &f.input, TakesFile: true, Usage: "read the script from `FILE`; - is standard input"},
				&cli.StringFlag{Name: "script", Destination: &f.text, Usage: "run the script `TEXT`, like the argument"},
			}, Also: []cli.Flag{
				&cli.StringFlag{Name: "implementation", Value: "s3", Destination: &f.implementation, Usage: "use `CLIENT`: s3, gcs, azure or adls; the names of object-store-bench's S3 clients mean s3"},
				&cli.BoolFlag{Name: "virtual-threads", Aliases: []string{"no-virtual-threads"}, Destination: &f.virtualThreads, Hidden: true, Usage: "no effect, accepted for compatibility with object-store-bench"},
				&cli.IntFlag{Name: "concurrent", Destination: &f.Concurrent, Hidden: true, DefaultText: "as many as each statement needs", Validator: flagtype.AtLeast(1), Usage: "no effect, accepted for compatibility; MAX `N` CONCURRENT in the script sets the concurrency"},
			}},
			f.Target.Group(env),
			{Title: command.RunTitle, Flags: []cli.Flag{
				f.LogFlag(),
				f.MaxErrorsFlag(),
			}, Also: f.rareFlags(env)},
			f.Target.Traffic(env, "upload objects larger than `SIZE` in parts of that size"),
		},
		Absent:  absentFromScripts(),
		MaxArgs: 1, Needs: "one script in quotation marks",
		Check: f.check,
		Run:   f.run,
	}
	return c
}

// rareFlags returns the flags of other benchmarks that mean the same here.
func (f *scriptFlags) rareFlags(env command.Environment) []cli.Flag {
	shared := []string{"serverprof", "retries", "stdout", "dry-run", "drain"}
	rare := slices.DeleteFunc(f.rareRunFlags(), func(f cli.Flag) bool { return !slices.Contains(shared, f.Names()[0]) })
	return slices.Concat(rare, []cli.Flag{f.Analysis.HTML.Flag()}, f.Upload.Flags(), f.Exports.Flags(env), f.Trace.Flags(), f.Asserts.Flags(true), f.Profile.Flags())
}

// absentFromScripts returns flags of other benchmarks that scripts do not have, some of them because a clause of a statement
// replaces the flag.
func absentFromScripts() []command.Absent {
	inScript := func(clause string, names ...string) command.Absent {
		return command.Absent{Names: names, Why: "is not for scripts: write " + clause + " in the script"}
	}
	return []command.Absent{
		{Names: []string{"warp-client", "warp-client-wait", "warp-ca", "client-id", "client-count", "token-file", "syncstart"},
			Why: "cannot be combined with a script, which one process runs; start warp script on each machine instead"},
		{Names: []string{"stress"}, Why: "cannot be combined with a script: warp analyze needs the op log to tell its statements apart"},
		{Names: []string{"web", "serve"}, Why: "is for reports, and scripts have none: run warp analyze with it on the op log"},
		{Names: []string{"stats-interval", "stats-output"}, Why: "is not for scripts: their table has a line each second"},
		{Names: []string{"analyze.dur", "analyze.host", "analyze.limit", "analyze.offset", "analyze.op", "analyze.out", "analyze.skip", "analyze.v", "full"},
			Why: "is for reports, and scripts have none: run warp analyze on its op log"},
		{Names: []string{"assert-abort"}, Why: "is not for scripts: their statements are judged when all have ended"},
		{Names: []string{"confirm"}, Why: "is not for scripts: their objects may be gone after the first run"},
		{Names: []string{"clear-bucket", "destroy", "lease"}, Why: "cannot be combined with a script, which removes only what its DELETE statements name"},
		inScript("OF SIZE", "obj.size", "obj.randsize", "min-size", "max-size"),
		inScript("WARMUP", "warmup"),
		inScript("RUNTIME", "duration", "autoterm", "autoterm.dur", "autoterm.pct"),
		inScript("n OBJECTS", "objects", "max-objects", "total-size", "epochs"),
		inScript("AT RATE … PER SECOND", "rps-limit"),
		inScript("USING NAMING STRATEGY … WITH SEED", "seed", "prefix", "noprefix", "subdir", "randomname", "obj.name"),
		inScript("REUSE", "list-existing", "list-flat", "filelist"),
		inScript("DELETE", "noclear", "keep-data"),
	}
}

func (f *scriptFlags) run(ctx context.Context, inv *command.Invocation) error {
	if err := f.checkFlags(inv.JSON); err != nil {
		return err
	}
	where, text, err := f.read(ctx, inv.Args, inv.In)
	if err != nil {
		return err
	}
	statements, steps, err := f.parse(where, text)
	if err != nil {
		return err
	}
	if f.Target.Given("virtual-threads") {
		inv.Warnf("--virtual-threads has no effect: warp has no Java threads, and sends each concurrent request from a goroutine of its own")
	}
	if f.Concurrent > 0 {
		inv.Warnf("--concurrent has no effect: a statement without MAX … CONCURRENT makes as many concurrent requests as it needs")
	}
	if f.DryRun != "" {
		return f.showScript(inv, statements)
	}
	return f.execute(ctx, inv, statements, steps)
}

// check is for warp run, which has standard input for other things.
func (f *scriptFlags) check(json bool) error {
	if err := f.checkFlags(json); err != nil {
		return err
	}
	if f.text == "" && (f.input == "" || f.input == "-") {
		return exit.Usagef("there is no script").WithHint("write one as the value of the key script, or name a file with the key input")
	}
	where, text, err := f.read(context.Background(), nil, nil)
	if err == nil {
		_, _, err = f.parse(where, text)
	}
	return err
}

func (f *scriptFlags) checkFlags(json bool) error {
	if err := f.checkImplementation(); err != nil {
		return err
	}
	f.setDefaults()
	return exit.First(
		f.Target.Check,
		func() error { return f.Target.OneBucket("script works in one bucket") },
		func() error { return f.CheckStdout(json) },
		func() error { return f.Asserts.Parse(false, RequestNames()) },
		f.Exports.Check,
		func() error { return f.Upload.Check(f.Target.Buckets, f.Stress) },
		f.Analysis.HTML.Check,
		f.CheckServerProfiles,
	)
}

// parse parses a script and checks it before a request is sent.
func (f *scriptFlags) parse(where, text string) ([]script.Statement, []bench.ScriptStep, error) {
	statements, err := script.Parse(text)
	if err != nil {
		wrong := exit.Usagef("%s: %w", where, err)
		if info, err := os.Stat(strings.TrimSpace(text)); err == nil && !info.IsDir() {
			wrong = wrong.WithHint("to run the script in the file of that name, write --input=%s", strings.TrimSpace(text))
		}
		return nil, nil, wrong
	}
	steps := scriptSteps(statements)
	if err := bench.CheckScript(steps); err != nil {
		return nil, nil, exit.Usagef("%s: %w", where, err)
	}
	return statements, steps, scriptMeasurable(steps).check(f.Asserts.All)
}

// showScript shows the plan of a script that was checked.
func (f *scriptFlags) showScript(inv *command.Invocation, statements []script.Statement) error {
	path := runlog.Path(f.Benchdata, "script", "ID")
	if err := runlog.CheckNew(path); err != nil {
		return err
	}
	d := plan.New(inv, "script")
	d.Say("requests go to %s", plan.Hosts(&f.Target))
	d.Say("bucket %s is made if it does not exist, and stays", f.Target.BucketList())
	for i, s := range statements {
		d.Say("statement %d: %s", i+1, s.Text)
	}
	d.Say("objects stay in the bucket unless a DELETE says otherwise")
	o := &bench.Options{Benchmark: "script", ClientID: "ID"}
	f.PlanFiles(d, o)
	d.Identity(session.Identity(inv, &f.RunFlags, o, statements))
	return d.Show(inv, f.DryRun)
}

// checkImplementation takes the kind of store from the name of a client of object-store-bench.
func (f *scriptFlags) checkImplementation() error {
	provider := engines.S3
	switch strings.ToLower(f.implementation) {
	case "s3", "aws", "awsurl", "awsurlconnection", "awsapache", "awsnetty":
		if !f.Target.Given("implementation") {
			return nil
		}
	case "gcs", "gcp":
		provider = "gcs"
	case "adls":
		provider = "adls"
	case "azure":
		provider = "azure"
	default:
		return exit.Usagef("--implementation: there is no client %q", f.implementation).WithHint("leave out the flag, or write --implementation=s3")
	}
	if _, err := engines.FindProvider(provider); err != nil {
		return exit.Usagef("--implementation=%s: warp does not talk to stores of that kind", f.implementation)
	}
	if f.Target.ProviderName != "" && f.Target.ProviderName != provider {
		return exit.Usagef("--implementation=%s and --provider=%s cannot be combined", f.implementation, f.Target.ProviderName)
	}
	f.Target.ProviderName = provider
	return nil
}

// The defaults of object-store-bench.
const (
	benchBucket = "bucket"
	benchRegion = "eu-central-1"
)

// setDefaults sets the defaults of object-store-bench for bucket and region if flags that
// only object-store-bench has are given.
func (f *scriptFlags) setDefaults() {
	own := []string{"base-uri", "s3-access-key", "s3-secret-key", "s3-region", "implementation", "virtual-threads"}
	if !slices.ContainsFunc(own, f.Target.Given) {
		return
	}
	if !f.Target.Given("bucket") {
		f.Target.Bucket = benchBucket
	}
	if s3 := f.Target.ProviderName == "" || f.Target.ProviderName == engines.S3; s3 && f.Target.Region == "" {
		f.Target.Region = benchRegion
	}
}

// read reads the script, and returns where it is from.
func (f *scriptFlags) read(ctx context.Context, args []string, in io.Reader) (where, text string, err error) {
	given := 0
	for _, is := range []bool{f.text != "", f.input != "", len(args) > 0} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return "", "", exit.Usagef("the script is given more than once").WithHint("use one of the argument, --script and --input")
	case f.text != "":
		return "--script", f.text, nil
	case len(args) > 0 && args[0] != "-":
		return "script", args[0], nil
	case f.input != "" && f.input != "-":
		data, err := wholefile.Read(f.input, maxScript)
		if err != nil {
			return "", "", exit.Usagef("--input: %s: %w", f.input, files.Reason(err))
		}
		return f.input, string(data), nil
	}
	if t, ok := in.(interface{ Fd() uintptr }); ok && given == 0 && term.IsTerminal(int(t.Fd())) {
		return "", "", exit.Usagef("there is no script").WithHint("write it as an argument in quotation marks, or name a file with --input")
	}
	data, err := wholefile.ReadAll(runlog.Cancelled(ctx, in), maxScript)
	if err != nil && ctx.Err() == nil {
		err = exit.Errorf("standard input: %w", err)
	}
	return "standard input", string(data), err
}

// maxScript is more than any script has.
const maxScript = 2 << 20

// scriptSteps returns the steps of statements. An upload that names no seed
// gets one.
func scriptSteps(statements []script.Statement) []bench.ScriptStep {
	steps := make([]bench.ScriptStep, len(statements))
	for i, s := range statements {
		steps[i] = bench.ScriptStep{
			Op: string(s.Verb), Line: s.Line, Column: s.Column, Context: s.Context, Objects: s.Objects, Runtime: s.Runtime,
			Rate: s.Rate, Warmup: s.Warmup, Max: s.Max, Seed: s.Seed, Random: s.Strategy == script.RandomPrefix, Size: s.Size,
		}
		switch {
		case s.Verb == script.Reuse:
			steps[i].Op = ""
		case s.Verb == script.Put && s.Seed == "":
			steps[i].Seed = randomName()
		}
	}
	return steps
}

// randomName returns a random seed.
func randomName() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// execute runs the statements and reports on each.
func (f *scriptFlags) execute(ctx context.Context, inv *command.Invocation, statements []script.Statement, steps []bench.ScriptStep) error {
	o, err := f.options(benchmark{name: "script"})
	if err != nil {
		return err
	}
	o.Concurrency, o.Redact = 0, inv.Hide.Text // statements have their own concurrency
	path := runlog.Path(f.Benchdata, o.Benchmark, o.ClientID)
	if err := runlog.Ready(path); err != nil {
		return err
	}
	if err := f.Asserts.TryFiles(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	target, err := f.Target.Open(ctx, inv, connectionsWorth(steps), cancel)
	if err != nil {
		return err
	}
	s := session.New(inv, &f.RunFlags, o, path)
	s.Load = session.NewScript(s, target, statements, steps)
	return s.Run(ctx)
}

// connectionsWorth returns how many connections are worth keeping open between
// requests. Statements that name no number rarely need more than this.
func connectionsWorth(steps []bench.ScriptStep) int {
	const usual = 256
	return slices.MaxFunc(steps, func(a, b bench.ScriptStep) int { return a.Max - b.Max }).Max + usual
}
