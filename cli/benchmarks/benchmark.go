package benchmarks

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/cli/session"
	"warp/cli/session/plan"
	"warp/cli/target"
	"warp/pkg/bench"
	"warp/pkg/store/provider"
)

// Flags are the flags that every benchmark has.
type Flags struct {
	session.RunFlags

	names   nameFlags
	Ends    endFlags
	Payload payloadFlags
	verify  verifyFlags
	shape   shapeFlags

	Concurrent, retries            int
	lease, drain                   time.Duration
	rps                            float64
	MaxErrors                      bench.ErrorLimit
	Seed                           string
	Destroy                        string
	DryRun                         flagtype.Asked
	cost                           cost
	noClear, keepData, clearBucket bool
	allowDeadHosts                 bool
	suite                          bool // see invocation
	pool                           poolRole
	like                           bool // the arrivals are from a profile
}

// A benchmark describes one benchmark: its own flags and its properties.
type benchmark struct {
	name, summary string
	op            bench.Op         // whose fields its flags set
	requests      []string         // names of its requests in the log, without the preparation
	made          func() []string  // those that it makes with the flags as given; nil = all
	divided       func() []float64 // how many of each for one operation; nil if they are of one kind, or unknown
	about         []string
	examples      []string
	flags         []cli.Flag         // its own, first in the help
	rarely        []cli.Flag         // its own, named only
	payload       bool               // it uploads objects of --obj.size
	writes        bool               // its requests write objects, so that the run may end after some
	reads         bool               // it downloads objects, and checks them as --verify says
	shares        bool               // it leaves its objects as they are, so that several runs can use the same
	duration      time.Duration      // default of --duration; 0 = the usual one
	oneBucket     bool               // it is about one bucket
	empties       bool               // it ends when no object is left
	scheduled     bool               // its requests are due at times of its own
	parts         string             // what --part.size is for; "" = it has none, or one of its own
	needs         []provider.Feature // of the store
	absent        []command.Absent   // flags that it lacks although others have them
	plan          func() string      // what it does, once the flags were checked
	// check checks the flags, and completes the operation with what they say together.
	check func(f *Flags) error
	// adjust sets the options that only this operation has; may be nil.
	adjust func(o *bench.Options)
}

// benchmarkCommand makes a command of b.
func benchmarkCommand(env command.Environment, b benchmark) *command.Command {
	_, c := benchmarkWithFlags(env, b)
	return c
}

// benchmarkWithFlags returns the command with the flags that it sets.
func benchmarkWithFlags(env command.Environment, b benchmark) (*Flags, *command.Command) {
	f := &Flags{}
	f.cost.set(1, 1)
	c := &command.Command{}
	f.Target.Given, f.Target.Elsewhere = c.WasGiven, target.OrEmbedded
	f.Analysis.Asserts = &f.Asserts
	*c = command.Command{
		Name: b.name, Summary: b.summary, Section: command.SectionBenchmark,
		About: b.about, Examples: b.examples,
		Groups: []command.Group{
			f.workload(b),
			f.Target.Group(env),
			f.runGroup(env),
			f.Target.Traffic(env, b.parts),
			f.Analysis.Group(),
		},
		Absent: append(Absent(), b.absent...),
		Check: func(json bool) error {
			f.suite = true
			_, err := f.ready(b, json)
			if err != nil || f.DryRun != "" {
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
			if note := f.Autoterm.UnusedWarning(f.Ends.Duration); note != "" && !b.scheduled {
				inv.Warnf("%s", note)
			}
			if f.DryRun != "" {
				return showPlan(inv, f, b, o)
			}
			if err := f.tryFiles(); err != nil {
				return err
			}
			if f.pool.hold {
				f.Stress = true
				return f.measure(ctx, inv, b, b.op, o)
			}
			return f.confirmed(ctx, inv, b, o)
		},
	}
	return f, c
}

// ready checks the flags, completes the operation, and returns the options of its run. It sends and writes nothing.
func (f *Flags) ready(b benchmark, json bool) (o bench.Options, err error) {
	err = exit.First(
		f.check,
		func() error { return f.CheckStdout(json) },
		func() error { return f.checkNeeds(b) },
		func() error { return b.check(f) },
		f.checkShape,
		func() error { return f.measurable(b).check(f.Asserts.All) },
		func() error { return f.Ends.resolve(b.empties || f.Autoterm.On, b.writes) },
		func() error { return f.Marks.Parse(f.Ends.Duration) },
		f.Ends.checkWarmup,
		f.checkAbort,
		func() (err error) { o, err = f.options(b); return err },
		func() error { return f.checkReadOnly(&o) },
		func() error { return f.checkFiles(&o) },
	)
	return o, err
}

// checkNeeds refuses stores that cannot run the benchmark, and several buckets if it needs one.
func (f *Flags) checkNeeds(b benchmark) error {
	for _, feature := range b.needs {
		if err := f.Target.Require(true, b.name, feature); err != nil {
			return err
		}
	}
	if b.oneBucket {
		return f.Target.OneBucket(b.name + " works in one bucket")
	}
	return nil
}

// checkFiles sets the name of the op log, and returns an error for files that could not be written.
func (f *Flags) checkFiles(o *bench.Options) error {
	f.Log = runlog.Path(f.Benchdata, f.LogKind(o.Benchmark), o.ClientID)
	err := files.CheckNew("--stats-output", f.Progress.Output, "name another place")
	if err != nil || f.Stress {
		return err
	}
	return runlog.CheckNew(f.Log)
}

// tryFiles checks that the files of a run can be created.
func (f *Flags) tryFiles() error {
	if err := f.Asserts.TryFiles(); err != nil {
		return err
	}
	if err := f.Analysis.TryOut(); err != nil || f.Stress {
		return err
	}
	return files.TryFolder("--benchdata", f.Log)
}

func (f *Flags) workload(b benchmark) command.Group {
	g := command.Group{Title: command.WorkloadTitle, Flags: b.flags, Also: b.rarely}
	g.Flags = append(g.Flags,
		&cli.IntFlag{Name: "concurrent", Value: 20, Destination: &f.Concurrent, Validator: flagtype.AtLeast(1), Usage: "`N` workers, each with one request at a time"},
		f.Ends.flag(),
		&cli.FloatFlag{Name: "rps-limit", Destination: &f.rps, Validator: rateValid,
			Usage: "send `N` requests/s on a fixed schedule (open loop); 0 is as fast as possible"},
	)
	if b.duration > 0 {
		f.Ends.durationFlag.Value = b.duration
	}
	if b.writes {
		g.Also = append(g.Also, f.Ends.writeFlags()...)
	}
	g.Also = append(append(g.Also, f.shape.flags()...), f.Ends.warmupFlag())
	g.Also = append(g.Also, f.names.flags()...)
	g.Also = append(g.Also,
		&cli.StringFlag{Name: "seed", Destination: &f.Seed, DefaultText: "random, and shown",
			Usage: "seed `NUMBER` for names, sizes, order and payload"},
	)
	if b.payload {
		g.Also = append(g.Also, f.Payload.flags()...)
	}
	if b.reads {
		g.Also = append(g.Also, f.verify.flag())
	}
	if b.shares {
		g.Also = append(g.Also, f.pool.flags()...)
	}
	return g
}

func (f *Flags) runGroup(env command.Environment) command.Group {
	also := slices.Concat(f.rareRunFlags(), f.Fleet.Flags(), f.Upload.Flags(), f.Exports.Flags(env), f.Web.Flags(), f.Trace.Flags(), f.Asserts.Flags(true), f.Asserts.RunFlags(), f.Profile.Flags())
	return command.Group{Title: command.RunTitle, Also: also, Flags: []cli.Flag{
		f.LogFlag(),
		f.MaxErrorsFlag(),
		&cli.BoolFlag{Name: "noclear", Destination: &f.noClear, Usage: "remove nothing, neither objects of this run nor of dead runs"},
	}}
}

// MaxErrorsFlag limits the failed requests of a run.
func (f *Flags) MaxErrorsFlag() cli.Flag {
	return &flagtype.Limit{Name: "max-errors", Destination: &f.MaxErrors, Usage: "end the run when more than this many requests fail; fewer failures do not affect the exit code"}
}

func (f *Flags) rareRunFlags() []cli.Flag {
	return append(f.Autoterm.Flags(),
		&cli.StringFlag{Name: "serverprof", Destination: &f.Serverprof, Usage: "record profiles of a MinIO server: `KINDS` are cpu, cpuio, mem, block, mutex, threads, trace"},
		&cli.BoolFlag{Name: "allow-dead-hosts", Destination: &f.allowDeadHosts, Usage: "start the run even if some of several hosts do not answer"},
		&cli.IntFlag{Name: "retries", Destination: &f.retries, Validator: flagtype.AtLeast(0), Usage: "retry a failed request up to `N` times"},
		&cli.BoolFlag{Name: "stress", Destination: &f.Stress, Usage: "write no op log"},
		&cli.BoolFlag{Name: "stdout", Destination: &f.Stdout, Usage: "write log rows to standard output as requests finish, and the report to standard error"},
		&cli.BoolFlag{Name: "keep-data", Destination: &f.keepData, Usage: "keep this run's objects in the bucket"},
		&cli.BoolFlag{Name: "clear-bucket", Destination: &f.clearBucket, Usage: "first delete everything in the bucket, including other people's objects; needs --destroy"},
		f.Progress.Flag(), f.Progress.OutputFlag(), f.Sync.Flag(), f.Ends.foreverFlag(), f.Marks.Flag(),
		plan.Flag(&f.DryRun),
		&cli.StringFlag{Name: "destroy", Destination: &f.Destroy, Hidden: true, Usage: "confirm that other people's objects in `BUCKET` may be deleted"},
		&flagtype.Duration{Name: "lease", Value: time.Minute, Destination: &f.lease, Hidden: true,
			Usage: "other runs may clean up after this one if it shows no sign of life for `TIME`", Validator: flagtype.Takes(time.Second)},
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

func (f *Flags) check() error {
	if err := f.Target.Check(); err != nil {
		return err
	}
	switch {
	case f.Concurrent > bench.MaxThreads:
		return exit.Usagef("--concurrent=%d is more than %d", f.Concurrent, bench.MaxThreads)
	case len(f.Target.Buckets) > f.Concurrent:
		return exit.Usagef("--bucket names %d buckets, and --concurrent=%d workers would leave some out", len(f.Target.Buckets), f.Concurrent).
			WithHint("use --concurrent=%d or more", len(f.Target.Buckets))
	case f.clearBucket && !f.Target.MayDestroy(f.Destroy):
		return f.demandDestroy("--clear-bucket deletes every object in bucket %s", f.Target.BucketList())
	case f.Analysis.Op != "" && !slices.Contains(RequestNames(), strings.ToUpper(f.Analysis.Op)):
		return exit.Usagef("--analyze.op: there is no operation %q here", f.Analysis.Op).WithHint("use one of %s", strings.Join(RequestNames(), ", "))
	case f.Stress && (f.Analysis.Limit > 0 || f.Analysis.Offset > 0):
		return exit.Usagef("--analyze.limit and --analyze.offset cannot be combined with --stress, which writes no op log")
	case f.Stress && f.Analysis.Cache > 0:
		return exit.Usagef("--cache and --stress cannot be combined: --stress writes no op log")
	case f.Stress && f.Benchdata != "":
		return exit.Usagef("--stress and --benchdata cannot be combined: --stress writes no op log")
	case f.Destroy != "" && !f.Target.MayDestroy(f.Destroy):
		return exit.Usagef("--destroy=%s is not the bucket of this run", f.Destroy).WithHint("that is --destroy=%s", f.Target.BucketList())
	}
	return exit.First(
		func() error { return f.names.check(f.Seed, f.Fleet.Clients != "") },
		f.CheckFleet,
		f.Web.Check,
		f.Exports.Check,
		func() error { return f.Upload.Check(f.Target.Buckets, f.Stress) },
		f.CheckServerProfiles,
		f.checkAsserts,
		f.Analysis.CheckOut,
	)
}

// demandDestroy returns the error for flags that would delete other people's objects.
func (f *Flags) demandDestroy(format string, args ...any) error {
	return exit.Usagef(format, args...).WithHint("if that is what you want, add --destroy=%s", f.Target.BucketList())
}

// checkReadOnly returns an error for flags about uploads if there are none, and for names that uploads must not have.
func (f *Flags) checkReadOnly(o *bench.Options) error {
	if !o.ReadOnly {
		return f.names.checkWritable()
	}
	if f.Target.Options.Encrypt {
		return exit.Usagef("--encrypt makes a new key for this run, which the objects of --list-existing do not have")
	}
	if f.pool.pool != "" {
		return nil // these flags say how the objects were uploaded
	}
	name := f.Target.Options.OnlyUploads()
	if f.Target.Unsigned {
		name = "--disable-sha256-payload"
	}
	if name != "" {
		return exit.Usagef("%s is for uploads, and --list-existing makes none", name)
	}
	return nil
}

// options returns the options that all benchmarks have, and those of b.
func (f *Flags) options(b benchmark) (bench.Options, error) {
	seed, err := f.seedNumber()
	if err != nil {
		return bench.Options{}, err
	}
	objects := seed
	if f.pool.seed != nil {
		objects = *f.pool.seed
	}
	payload, err := f.Payload.Options(objects)
	if err != nil {
		return bench.Options{}, err
	}
	id := session.NewID()
	o := bench.Options{
		Benchmark: b.name, RunID: session.NewID() + id, ClientID: f.names.clientName(id),
		Bucket: f.Target.Buckets[0], MoreBuckets: f.Target.Buckets[1:], Seed: seed, ObjectsSeed: f.pool.seed,
		Concurrency: f.Concurrent, Rate: f.rps, Stages: f.shape.stages, Poisson: f.shape.arrival == poissonArrivals, Retries: f.retries,
		MaxErrors: f.MaxErrors, Payload: payload, Verify: f.verify.mode(),
		NoClear: f.noClear, KeepData: f.keepData, ClearBucket: f.clearBucket, AllowDeadHosts: f.allowDeadHosts,
		Lease: f.lease, Drain: f.drain, TraceHTTP: f.Trace.On, TraceSample: f.Trace.Sample,
	}
	f.names.apply(&o)
	f.Ends.apply(&o)
	if b.adjust != nil {
		b.adjust(&o)
	}
	return o, nil
}

func (f *Flags) seedNumber() (uint64, error) {
	if f.Seed == "" {
		return session.NewSeed(), nil
	}
	return session.ParseSeed(f.Seed)
}
