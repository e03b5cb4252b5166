package cli

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

	"warp/cli/flagtype"
	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/script"
)

// scriptFlags are the flags of warp script. The target and what is recorded
// are those of every benchmark.
type scriptFlags struct {
	benchFlags
	text, input, implementation string
}

func scriptCommand(env environment) *command {
	f := &scriptFlags{}
	c := &command{}
	f.target.given = c.wasGiven
	*c = command{
		name: "script", args: "[SCRIPT]", section: sectionBenchmark,
		summary: "run a script of PUT, GET and DELETE statements",
		about: []string{
			"Statements run one after the other over the same objects. The script is the argument, --script, the",
			"content of --input, or standard input. Objects stay in the bucket until a DELETE.",
		},
		examples: []string{
			"warp script --host=s3:9000 'PUT 9 OBJECTS; GET RUNTIME 1 MINUTE; DELETE'",
			"warp script --host=s3:9000 --bucket=demo --input=nightly.script",
		},
		groups: []flagGroup{
			{title: groupWorkload, flags: []cli.Flag{
				&cli.StringFlag{Name: "input", Destination: &f.input, TakesFile: true, Usage: "read the script from `FILE`; - is standard input"},
				&cli.StringFlag{Name: "script", Destination: &f.text, Usage: "run the script that `TEXT` is, like the argument"},
			}, also: []cli.Flag{
				&cli.StringFlag{Name: "implementation", Value: "s3", Destination: &f.implementation, Usage: "`CLIENT` to use: s3; the other S3 clients of object-store-bench mean that too"},
				&cli.IntFlag{Name: "concurrent", Destination: &f.concurrent, Hidden: true, DefaultText: "as many as each statement needs", Validator: atLeast(1), Usage: "accepted for scripts that have it: `N` requests at a time are MAX … CONCURRENT"},
			}},
			f.target.group(env),
			{title: groupRun, flags: []cli.Flag{
				&cli.StringFlag{Name: "benchdata", Destination: &f.benchdata, DefaultText: "warp-COMMAND-TIME-ID", Usage: "write the op log to `NAME`.csv.zst"},
				&flagtype.Limit{Name: "max-errors", Destination: &f.maxErrors, Usage: "end the run when more requests have failed; fewer do not change the exit code"},
			}, also: f.rareFlags(env)},
			f.target.traffic(env, "`SIZE` of the parts in which larger objects are uploaded"),
		},
		absent:  absentFromScripts(),
		maxArgs: 1, needs: "one script in quotation marks",
		check: f.check,
		run:   f.run,
	}
	return c
}

// rareFlags are those of the other benchmarks' that mean the same here.
func (f *scriptFlags) rareFlags(env environment) []cli.Flag {
	shared := []string{"serverprof", "retries", "stdout", "dry-run", "drain"}
	rare := slices.DeleteFunc(f.rareRunFlags(), func(f cli.Flag) bool { return !slices.Contains(shared, f.Names()[0]) })
	return slices.Concat(rare, f.upload.flags(), f.exports.flags(env), f.trace.flags(), f.profile.flags())
}

// absentFromScripts are flags of other benchmarks that a script says itself,
// or that it has no use for.
func absentFromScripts() []absentFlag {
	inScript := func(clause string, names ...string) absentFlag {
		return absentFlag{names: names, why: "is not for scripts, which say it themselves: " + clause}
	}
	return []absentFlag{
		{names: []string{"warp-client", "warp-client-wait", "warp-ca", "client-id", "client-count", "token-file", "syncstart"},
			why: "does not go with scripts: their statements are of one process; start warp script on each machine instead"},
		{names: []string{"stress"}, why: "does not go with scripts: the op log is what warp analyze tells their statements apart by"},
		{names: []string{"stats-interval", "stats-output"}, why: "is not for scripts, whose table has a line each second"},
		{names: []string{"analyze.dur", "analyze.host", "analyze.limit", "analyze.offset", "analyze.op", "analyze.out", "analyze.skip", "analyze.v", "full"},
			why: "is for the report, which a script has none of: run warp analyze on its op log"},
		{names: []string{"assert", "assert-strict", "assert-abort", "confirm", "junit", "bmf", "gha"},
			why: "is for the report, which a script has none of: run warp analyze with it on the op log"},
		{names: []string{"clear-bucket", "destroy", "lease"}, why: "does not go with scripts, which remove nothing but what a DELETE says"},
		inScript("OF SIZE, one size for all objects", "obj.size", "obj.randsize", "min-size", "max-size"),
		inScript("WARMUP", "warmup"),
		inScript("RUNTIME", "duration", "autoterm", "autoterm.dur", "autoterm.pct"),
		inScript("n OBJECTS", "objects", "max-objects", "total-size", "epochs"),
		inScript("AT RATE … PER SECOND", "rps-limit"),
		inScript("USING NAMING STRATEGY … WITH SEED", "seed", "prefix", "noprefix", "subdir", "randomname", "obj.name"),
		inScript("REUSE", "list-existing", "list-flat", "filelist"),
		inScript("DELETE, without which objects stay", "noclear", "keep-data"),
	}
}

func (f *scriptFlags) run(ctx context.Context, inv *invocation) error {
	if err := f.checkFlags(inv.json); err != nil {
		return err
	}
	where, text, err := f.read(ctx, inv.args, inv.in)
	if err != nil {
		return err
	}
	statements, steps, err := parseScript(where, text)
	if err != nil {
		return err
	}
	if f.concurrent > 0 {
		inv.warnf("--concurrent changes nothing here: a statement without MAX … CONCURRENT has as many requests at a time as it needs")
	}
	if f.dryRun {
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
		return usageError("there is no script").tell("write one as the value of the key script, or name a file with the key input")
	}
	where, text, err := f.read(context.Background(), nil, nil)
	if err == nil {
		_, _, err = parseScript(where, text)
	}
	return err
}

func (f *scriptFlags) checkFlags(json bool) error {
	if err := f.checkImplementation(); err != nil {
		return err
	}
	if err := f.target.check(); err != nil {
		return err
	}
	if err := f.target.several("script works in one bucket"); err != nil {
		return err
	}
	if err := f.checkStdout(json); err != nil {
		return err
	}
	if err := f.exports.check(); err != nil {
		return err
	}
	if err := f.upload.check(&f.benchFlags); err != nil {
		return err
	}
	_, err := parseServerProfiles(f.serverprof)
	return err
}

// parseScript finds all that can be wrong with a script before anything is sent.
func parseScript(where, text string) ([]script.Statement, []bench.ScriptStep, error) {
	statements, err := script.Parse(text)
	if err != nil {
		wrong := usageError("%s: %w", where, err)
		if info, err := os.Stat(strings.TrimSpace(text)); err == nil && !info.IsDir() {
			wrong = wrong.tell("to run the script in the file of that name, write --input=%s", strings.TrimSpace(text))
		}
		return nil, nil, wrong
	}
	steps := scriptSteps(statements)
	if err := bench.CheckScript(steps); err != nil {
		return nil, nil, usageError("%s: %w", where, err)
	}
	return statements, steps, nil
}

// showScript is the dry run: the script is right, and nothing of it is done.
func (f *scriptFlags) showScript(inv *invocation, statements []script.Statement) error {
	path := logPath(f.benchdata, "script", "ID")
	if err := checkLog(path); err != nil {
		return err
	}
	d := &dryRun{Benchmark: "script", Parameters: map[string]string{}}
	for _, g := range inv.command.groups {
		d.addGroup(inv, g)
	}
	hosts, err := f.plannedHosts()
	if err != nil {
		return err
	}
	d.say("requests go to %s", hosts)
	d.say("bucket %s is made if it does not exist, and stays", f.target.bucketList())
	for i, s := range statements {
		d.say("statement %d: %s", i+1, s.Text)
	}
	d.say("objects stay in the bucket unless a DELETE says otherwise")
	d.planFiles(&f.benchFlags, &bench.Options{Benchmark: "script", ClientID: "ID"})
	for i, line := range d.Plan {
		d.Plan[i] = inv.hide.text(line)
	}
	return inv.result(func(w io.Writer) error { return d.show(w, inv.json) })
}

// checkImplementation refuses what is no S3.
func (f *scriptFlags) checkImplementation() error {
	switch strings.ToLower(f.implementation) {
	case "s3", "awsurlconnection", "awsapache", "awsnetty":
		return nil
	case "gcs", "adls":
		return usageError("--implementation=%s: warp speaks S3 only, and that is another protocol", f.implementation).
			tell("point --host at an S3 interface of that store, or leave out the flag")
	}
	return usageError("--implementation: there is no client %q; warp speaks S3 only", f.implementation).tell("leave out the flag, or write --implementation=s3")
}

// read gets the script, and says where it is from.
func (f *scriptFlags) read(ctx context.Context, args []string, in io.Reader) (where, text string, err error) {
	given := 0
	for _, is := range []bool{f.text != "", f.input != "", len(args) > 0} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return "", "", usageError("the script is given more than once").tell("use one of the argument, --script and --input")
	case f.text != "":
		return "--script", f.text, nil
	case len(args) > 0 && args[0] != "-":
		return "script", args[0], nil
	case f.input != "" && f.input != "-":
		data, err := os.ReadFile(f.input)
		if err != nil {
			return "", "", usageError("--input: %s: %w", f.input, reason(err))
		}
		return f.input, string(data), nil
	}
	if t, ok := in.(interface{ Fd() uintptr }); ok && given == 0 && term.IsTerminal(int(t.Fd())) {
		return "", "", usageError("there is no script").tell("write it as an argument in quotation marks, or name a file with --input")
	}
	data, err := readAll(ctx, in, 2<<20) // more than any script may have
	if err != nil && ctx.Err() == nil {
		err = runError("standard input: %w", err)
	}
	return "standard input", string(data), err
}

// readAll reads a stream, or its first bytes, unless ctx ends before the stream does.
func readAll(ctx context.Context, in io.Reader, most int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, most))
		read <- result{data, err}
	}()
	select {
	case r := <-read:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// scriptSteps are statements as they are executed. An upload that names no
// seed gets one.
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

// randomName is a seed that nobody has given to anything yet.
func randomName() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// execute runs the statements and reports on each.
func (f *scriptFlags) execute(ctx context.Context, inv *invocation, statements []script.Statement, steps []bench.ScriptStep) error {
	id := randomID()
	seed := randomSeed()
	o := bench.Options{
		Benchmark: "script", Warp: thisBuild().version, RunID: randomID() + id, ClientID: id, Bucket: f.target.buckets[0], Seed: seed,
		MaxErrors: f.maxErrors, TraceHTTP: f.trace.on, TraceSample: f.trace.sample,
		Payload: generator.PayloadOptions{Seed: seed}, Drain: f.drain, Retries: f.retries, AllowDeadHosts: f.allowDeadHosts, Redact: inv.hide.text,
	}
	path := logPath(f.benchdata, o.Benchmark, o.ClientID)
	if err := checkLog(path); err != nil {
		return err
	}
	if err := tryFolder("--benchdata", path); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	target, err := f.target.open(ctx, inv, connectionsWorth(steps), cancel)
	if err != nil {
		return err
	}
	defer target.close()
	s := &session{invocation: inv, flags: &f.benchFlags, opts: o, runner: &bench.Runner{Client: target.client}}
	if s.upload, err = f.upload.open(ctx, inv, path); err != nil {
		return err
	}
	defer s.upload.close()
	if s.profiles, err = f.profile.open(); err != nil {
		return err
	}
	defer s.profiles.discard()
	table := &scriptTable{invocation: inv, statements: statements, steps: steps}
	sc := &bench.Script{Client: target.client, Options: o, Steps: steps, Watcher: table}
	inv.hangups.begin(o.TraceHTTP, sc.SetTrace)
	stop := f.target.sayWaiting(inv.console, target.client)
	err = sc.Open(ctx)
	stop()
	if err != nil {
		return f.target.unopened(ctx, err)
	}
	defer s.discardServerProfiles()
	if err := s.startServerProfiles(ctx, target.client, path); err != nil {
		return err
	}
	if s.exports, err = f.exports.open(ctx, s); err != nil {
		return err
	}
	defer s.exports.end(ctx, s)
	return s.uploadLog(ctx, s.runScript(ctx, sc, table, path))
}

// runScript runs what is open, saves the log and says how it all ended.
func (s *session) runScript(ctx context.Context, sc *bench.Script, table *scriptTable, path string) error {
	header := s.header()
	for _, statement := range table.statements {
		header.Statements = append(header.Statements, statement.Text)
	}
	var err error
	if s.log, err = oplog.Create(path, header); err != nil {
		return runError("%w", err)
	}
	sinks := append([]bench.Sink{table, s.log}, s.exports.sinks()...)
	if s.rows = s.openRows(); s.rows != nil { // before anything else is said on standard output
		sinks = append(sinks, s.rows)
	}
	table.settings(&s.flags.target, sc.Client)
	endProfiles := s.profile()
	out := sc.Run(ctx, sinks...)
	s.saveServerProfiles()
	endProfiles()
	inner := s.settle(ctx, out)
	if note := table.skipped(); note != "" {
		out.Trailer.Notes = append(out.Trailer.Notes, note)
	}
	return both(inner, s.endScript(out, table))
}

// endScript saves the log, and shows what was not shown while the script ran.
func (s *session) endScript(out *bench.Outcome, table *scriptTable) error {
	var err error
	if out.Sent == 0 {
		err = s.log.Discard()
		s.warnf("no request was %s, so there is no op log", madeOrAnswered(out))
	} else if table.report.Log, err = s.log.Commit(out.Trailer); err != nil {
		err = runError("%w", err)
	} else {
		s.written = table.report.Log
		s.notef("Benchmark data written to %q", s.written)
	}
	for _, note := range out.Trailer.Notes {
		s.warnf("%s", note)
	}
	err = both(err, table.unwritten)
	if s.json {
		table.report.Notes = append([]string{}, out.Trailer.Notes...)
		table.report.End, table.report.EndReason = out.Trailer.End, out.Trailer.Reason
		s.hide.strings(&table.report)
		err = both(err, s.result(func(w io.Writer) error { return writeJSON(w, table.report) }))
	}
	return err
}

// connectionsWorth is how many connections are worth keeping open between
// requests. Statements that name no number rarely need more than this.
func connectionsWorth(steps []bench.ScriptStep) int {
	const usual = 256
	return slices.MaxFunc(steps, func(a, b bench.ScriptStep) int { return a.Max - b.Max }).Max + usual
}
