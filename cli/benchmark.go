package cli

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/newfile"
	"warp/cli/runlog"
	"warp/cli/target"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/store/engines"
)

// benchFlags are the flags that every benchmark has.
type benchFlags struct {
	runFlags

	names   nameFlags
	ends    endFlags
	payload payloadFlags
	verify  verifyFlags

	concurrent, retries            int
	lease, drain                   time.Duration
	rps                            float64
	maxErrors                      bench.ErrorLimit
	seed                           string
	destroy                        string
	dryRun                         bool
	noClear, keepData, clearBucket bool
	allowDeadHosts                 bool
	suite                          bool // see invocation
}

// A benchmark is what a benchmark command adds to the flags that all have.
type benchmark struct {
	name, summary string
	op            bench.Op // whose fields its flags set
	requests      []string // names of its requests in the log, without the preparation
	about         []string
	examples      []string
	flags         []cli.Flag        // its own, first in the help
	rarely        []cli.Flag        // its own, named only
	payload       bool              // it uploads objects of --obj.size
	writes        bool              // its requests write objects, so that the run may end after some
	reads         bool              // it downloads objects, and checks them as --verify says
	oneBucket     bool              // it is about one bucket
	empties       bool              // it ends when no object is left
	parts         string            // what --part.size is for; "" = it has none, or one of its own
	needs         []engines.Feature // of the store
	absent        []command.Absent  // flags that it lacks although others have them
	plan          func() string     // what it does, once the flags were checked
	// check checks the flags, and completes the operation with what they say together.
	check func(f *benchFlags) error
	// adjust sets the options that only this operation has; may be nil.
	adjust func(o *bench.Options)
}

// benchmarkCommand makes a command of b.
func benchmarkCommand(env command.Environment, b benchmark) *command.Command {
	f := &benchFlags{}
	c := &command.Command{}
	f.target.Given, f.target.Elsewhere = c.WasGiven, target.OrEmbedded
	f.analysis.asserts = &f.asserts
	*c = command.Command{
		Name: b.name, Summary: b.summary, Section: command.SectionBenchmark,
		About: b.about, Examples: b.examples,
		Groups: []command.Group{
			f.workload(b),
			f.target.Group(env),
			f.runGroup(env),
			f.target.Traffic(env, b.parts),
			f.analysis.group(),
		},
		Absent: append(absentFromBenchmarks(), b.absent...),
		Check: func(json bool) error {
			f.suite = true
			_, err := f.ready(b, json)
			if err != nil || f.dryRun {
				return err
			}
			return f.tryFiles()
		},
		Run: func(ctx context.Context, inv *command.Invocation) error {
			f.suite = inv.Suite
			o, err := f.ready(b, inv.JSON)
			if err != nil {
				return err
			}
			if note := f.autoterm.UnusedWarning(f.ends.duration); note != "" {
				inv.Warnf("%s", note)
			}
			if f.dryRun {
				return showPlan(inv, f, b, o)
			}
			if err := f.tryFiles(); err != nil {
				return err
			}
			return f.confirmed(ctx, inv, b, o)
		},
	}
	return c
}

// ready checks the flags, completes the operation, and returns the options of its run. It sends and writes nothing.
func (f *benchFlags) ready(b benchmark, json bool) (o bench.Options, err error) {
	if err := f.check(); err != nil {
		return o, err
	}
	if err := f.checkStdout(json); err != nil {
		return o, err
	}
	for _, feature := range b.needs {
		if err := f.target.Require(true, b.name, feature); err != nil {
			return o, err
		}
	}
	if b.oneBucket {
		if err := f.target.OneBucket(b.name + " works in one bucket"); err != nil {
			return o, err
		}
	}
	if err := b.check(f); err != nil {
		return o, err
	}
	if err := f.ends.resolve(b.empties || f.autoterm.On, b.writes); err != nil {
		return o, err
	}
	if err := f.marks.Parse(f.ends.duration); err != nil {
		return o, err
	}
	if err := f.ends.checkWarmup(); err != nil {
		return o, err
	}
	if err := f.checkAbort(); err != nil {
		return o, err
	}
	if o, err = f.options(b.name); err != nil {
		return o, err
	}
	if b.adjust != nil {
		b.adjust(&o)
	}
	if err := f.checkReadOnly(&o); err != nil {
		return o, err
	}
	return o, f.checkFiles(&o)
}

// checkFiles sets the name of the op log, and returns an error for files that could not be written.
func (f *benchFlags) checkFiles(o *bench.Options) error {
	f.log = runlog.Path(f.benchdata, f.logKind(o.Benchmark), o.ClientID)
	if f.progress.output != "" {
		if err := newfile.Check("--stats-output", f.progress.output, "name another place"); err != nil {
			return err
		}
	}
	if f.stress {
		return nil
	}
	return runlog.CheckNew(f.log)
}

// tryFiles checks that the files of a run can be created.
func (f *benchFlags) tryFiles() error {
	if err := f.asserts.tryFiles(); err != nil {
		return err
	}
	if err := f.analysis.tryOut(); err != nil || f.stress {
		return err
	}
	return newfile.TryFolder("--benchdata", f.log)
}

func (f *benchFlags) workload(b benchmark) command.Group {
	g := command.Group{Title: command.WorkloadTitle, Flags: b.flags, Also: b.rarely}
	g.Flags = append(g.Flags,
		&cli.IntFlag{Name: "concurrent", Value: 20, Destination: &f.concurrent, Validator: flagtype.AtLeast(1), Usage: "`N` workers, each with one request at a time"},
		f.ends.flag(),
		&cli.FloatFlag{Name: "rps-limit", Destination: &f.rps, Validator: rateValid,
			Usage: "send `N` requests/s on a fixed schedule (open loop); 0 is as fast as possible"},
	)
	if b.writes {
		g.Also = append(g.Also, f.ends.writeFlags()...)
	}
	g.Also = append(append(g.Also, f.ends.warmupFlag()), f.names.flags()...)
	g.Also = append(g.Also,
		&cli.StringFlag{Name: "seed", Destination: &f.seed, DefaultText: "random, and shown",
			Usage: "seed `NUMBER` for names, sizes, order and payload"},
	)
	if b.payload {
		g.Also = append(g.Also, f.payload.flags()...)
	}
	if b.reads {
		g.Also = append(g.Also, f.verify.flag())
	}
	return g
}

func (f *benchFlags) runGroup(env command.Environment) command.Group {
	also := slices.Concat(f.rareRunFlags(), f.fleet.Flags(), f.upload.Flags(), f.exports.Flags(env), f.web.Flags(), f.trace.flags(), f.asserts.flags(true), f.asserts.runFlags(), f.profile.Flags())
	return command.Group{Title: command.RunTitle, Also: also, Flags: []cli.Flag{
		&cli.StringFlag{Name: "benchdata", Destination: &f.benchdata, DefaultText: "warp-COMMAND-TIME-ID",
			Usage: "write the op log to `NAME`.csv.zst"},
		&flagtype.Limit{Name: "max-errors", Destination: &f.maxErrors, Usage: "end the run when more requests fail; fewer failures do not affect the exit code"},
		&cli.BoolFlag{Name: "noclear", Destination: &f.noClear, Usage: "remove nothing, neither objects of this run nor those of dead runs"},
	}}
}

func (f *benchFlags) rareRunFlags() []cli.Flag {
	return append(f.autoterm.Flags(),
		&cli.StringFlag{Name: "serverprof", Destination: &f.serverprof, Usage: "record profiles of a MinIO server: `KINDS` are cpu, cpuio, mem, block, mutex, threads, trace"},
		&cli.BoolFlag{Name: "allow-dead-hosts", Destination: &f.allowDeadHosts, Usage: "start the run even if some of several hosts do not answer"},
		&cli.IntFlag{Name: "retries", Destination: &f.retries, Validator: flagtype.AtLeast(0), Usage: "retry a failed request up to `N` times"},
		&cli.BoolFlag{Name: "stress", Destination: &f.stress, Usage: "write no op log"},
		&cli.BoolFlag{Name: "stdout", Destination: &f.stdout, Usage: "write log rows to standard output as requests finish, and the report to standard error"},
		&cli.BoolFlag{Name: "keep-data", Destination: &f.keepData, Usage: "keep this run's objects in the bucket"},
		&cli.BoolFlag{Name: "clear-bucket", Destination: &f.clearBucket, Usage: "first delete everything in the bucket, including other people's objects; needs --destroy"},
		f.progress.flag(), f.progress.outputFlag(), f.sync.flag(), f.ends.foreverFlag(), f.marks.Flag(),
		&cli.BoolFlag{Name: "dry-run", Destination: &f.dryRun, Usage: "show every parameter and the plan, without sending a request or writing a file"},
		&cli.StringFlag{Name: "destroy", Destination: &f.destroy, Hidden: true, Usage: "confirm that other people's objects in `BUCKET` may be deleted"},
		&flagtype.Duration{Name: "lease", Value: time.Minute, Destination: &f.lease, Hidden: true,
			Usage: "other runs may clean up after this one if it shows no sign of life for `TIME`", Validator: leaseValid},
		&flagtype.Duration{Name: "drain", Destination: &f.drain, DefaultText: "30s, or twice the longest request", Hidden: true,
			Usage: "at the end of the run, wait up to `TIME` for requests in flight"},
	)
}

// minRate is one request a day; beyond that the times of a schedule overflow.
const minRate = 1.0 / 86400

func rateValid(r float64) error {
	if math.IsNaN(r) || math.IsInf(r, 0) || r < 0 || r > 0 && r < minRate {
		return flagtype.Wrong("%g is not a number of requests per second", r)
	}
	return nil
}

func shareValid(share float64) error {
	if math.IsNaN(share) || math.IsInf(share, 0) || share < 0 {
		return flagtype.Wrong("%g is not a share", share)
	}
	return nil
}

func leaseValid(d time.Duration) error {
	if d < time.Second {
		return flagtype.Wrong("%s is too short; the minimum is 1s", human.Duration(d))
	}
	return nil
}

func (f *benchFlags) check() error {
	if err := f.target.Check(); err != nil {
		return err
	}
	switch {
	case f.concurrent > bench.MaxThreads:
		return exit.Usagef("--concurrent=%d is more than %d", f.concurrent, bench.MaxThreads)
	case len(f.target.Buckets) > f.concurrent:
		return exit.Usagef("--bucket names %d buckets, and --concurrent=%d workers would leave some out", len(f.target.Buckets), f.concurrent).
			WithHint("use --concurrent=%d or more", len(f.target.Buckets))
	case f.clearBucket && !f.target.MayDestroy(f.destroy):
		return f.demandDestroy("--clear-bucket deletes every object in bucket %s", f.target.BucketList())
	case f.analysis.op != "" && !slices.Contains(operations(), strings.ToUpper(f.analysis.op)):
		return exit.Usagef("--analyze.op: there is no operation %q here", f.analysis.op).WithHint("use one of %s", strings.Join(operations(), ", "))
	case f.stress && (f.analysis.limit > 0 || f.analysis.offset > 0):
		return exit.Usagef("--analyze.limit and --analyze.offset choose rows of the op log, which --stress does not write")
	case f.stress && f.benchdata != "":
		return exit.Usagef("--stress writes no op log, and --benchdata names one: leave out one of them")
	case f.destroy != "" && !f.target.MayDestroy(f.destroy):
		return exit.Usagef("--destroy=%s is not the bucket of this run", f.destroy).WithHint("that is --destroy=%s", f.target.BucketList())
	}
	if err := f.names.check(f.seed, f.fleet.Clients != ""); err != nil {
		return err
	}
	if err := f.checkFleet(); err != nil {
		return err
	}
	if err := f.web.Check(); err != nil {
		return err
	}
	if err := f.exports.Check(); err != nil {
		return err
	}
	if err := f.upload.Check(f.target.Buckets, f.stress); err != nil {
		return err
	}
	if err := f.checkServerProfiles(); err != nil {
		return err
	}
	if err := f.checkAsserts(); err != nil {
		return err
	}
	return f.analysis.checkOut()
}

// demandDestroy returns the error for flags that would delete other people's objects.
func (f *benchFlags) demandDestroy(format string, args ...any) error {
	return exit.Usagef(format, args...).WithHint("if that is what you want, add --destroy=%s", f.target.BucketList())
}

// checkReadOnly returns an error for flags about uploads if there are none.
func (f *benchFlags) checkReadOnly(o *bench.Options) error {
	if !o.ReadOnly {
		return nil
	}
	if f.target.Options.Encrypt {
		return exit.Usagef("--encrypt makes a new key for this run, which the objects of --list-existing do not have")
	}
	name := f.target.Options.OnlyUploads()
	if f.target.Unsigned {
		name = "--disable-sha256-payload"
	}
	if name != "" {
		return exit.Usagef("%s is for uploads, and --list-existing makes none", name)
	}
	return nil
}

func (f *benchFlags) options(name string) (bench.Options, error) {
	seed, err := f.seedNumber()
	if err != nil {
		return bench.Options{}, err
	}
	payload, err := f.payload.options(seed)
	if err != nil {
		return bench.Options{}, err
	}
	id := randomID()
	o := bench.Options{
		Benchmark: name, RunID: randomID() + id, ClientID: f.names.clientName(id),
		Bucket: f.target.Buckets[0], MoreBuckets: f.target.Buckets[1:], Seed: seed,
		Concurrency: f.concurrent, Rate: f.rps, Retries: f.retries,
		MaxErrors: f.maxErrors, Payload: payload, Verify: f.verify.how,
		NoClear: f.noClear, KeepData: f.keepData, ClearBucket: f.clearBucket, AllowDeadHosts: f.allowDeadHosts,
		Lease: f.lease, Drain: f.drain, TraceHTTP: f.trace.on, TraceSample: f.trace.sample,
	}
	f.names.apply(&o)
	f.ends.apply(&o)
	return o, nil
}

func (f *benchFlags) seedNumber() (uint64, error) {
	if f.seed == "" {
		return randomSeed(), nil
	}
	return parseSeed(f.seed)
}
