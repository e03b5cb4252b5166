package aisloader

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/session"
	"warp/cli/session/plan"
	"warp/cli/terminal/live"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/bench/recording"
	"warp/pkg/lease"
	"warp/pkg/sink"
	"warp/pkg/store"
)

// showLoaderID prints what --getloaderid asks for.
func (f *loaderFlags) showLoaderID(inv *command.Invocation) error {
	p := &loaderPlan{op: &ops.Loader{}}
	if err := f.resolveNames(p); err != nil {
		return err
	}
	if p.opts.Layout.Random {
		inv.Notef("names of objects are random: the id 0x%x is for StatsD only", p.id)
	}
	return inv.Resultf("0x%x\n", p.id)
}

// showRun shows the plan of the run.
func (f *loaderFlags) showRun(inv *command.Invocation, p *loaderPlan) error {
	d := plan.New(inv, p.opts.Benchmark)
	d.Say("requests go to %s", plan.Hosts(&f.Target))
	switch {
	case p.idle && p.keep:
		d.Say("nothing is done")
	case p.idle:
		d.Say("what earlier runs of warp wrote to bucket %s is removed, and the bucket if warp made it", p.opts.Bucket)
	default:
		d.Bucket(&f.Target, &p.opts, f.Destroy != "", f.randomSeed == 0)
		if p.kept {
			d.Say("so is what earlier runs of warp wrote there, and the bucket if warp made it")
		}
		d.Say("%s", f.describe(p))
		f.PlanFiles(d, &p.opts)
		d.Identity(session.Identity(inv, &f.RunFlags, &p.opts, nil))
	}
	return d.Show(inv, f.DryRun)
}

// describe says what the run does.
func (f *loaderFlags) describe(p *loaderPlan) string {
	does := fmt.Sprintf("uploads objects of %s (%d %%) and downloads objects", p.op.Sizes, f.pctPut)
	switch {
	case f.getConfig:
		does = "reads the configuration of the cluster"
	case f.pctPut == 0:
		does = "downloads objects"
	case f.pctPut == 100:
		does = fmt.Sprintf("uploads objects of %s", p.op.Sizes)
	}
	f.Ends.Passes = f.epochs > 0
	return does + "; " + f.PlanEnd(false, &p.opts)
}

// execute runs the load.
func (f *loaderFlags) execute(ctx context.Context, inv *command.Invocation, p *loaderPlan) error {
	if err := files.TryFolder("--benchdata", f.Log); err != nil {
		return err
	}
	if err := f.findStatsD(inv, p); err != nil {
		return err
	}
	if !f.given("cleanup") {
		inv.Notef("--cleanup is not given: at its end, this run removes the objects that it wrote, and nothing else")
	}
	switch {
	case f.pctPut < 100 || f.given("pctput"):
	case p.newName:
		inv.Notef("bucket %s is new, and there is nothing to read: --pctput is 100", p.opts.Bucket)
	default:
		inv.Notef("--maxputs is given without --pctput, which is therefore 100")
	}
	p.opts.Redact = inv.Hide.Text
	f.Plan = fmt.Sprintf("bucket %s: %s", p.opts.Bucket, f.describe(p))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, closeOut, err := f.openTable(inv)
	if err != nil {
		return err
	}
	defer closeOut()
	s := session.New(inv, &f.RunFlags, p.opts, f.Log)
	var op bench.Op = p.op
	if f.getConfig {
		op = ops.ReadConfig{}
	}
	local, err := session.NewLocal(ctx, s, op, cancel)
	if err != nil {
		return err
	}
	l := &aisloaderLoad{Local: local, flags: f, plan: p, table: newTable(out, inv.JSON, time.Now)}
	p.op.Found = func(n int) { l.found = n }
	local.Runner.Progress = &loaderProgress{Progress: session.Progress{Session: s}, load: l}
	s.Load = l
	return s.Run(ctx)
}

// findStatsD finds out whether anybody receives metrics. Without flags for them, they go to the usual address if somebody
// listens there.
func (f *loaderFlags) findStatsD(inv *command.Invocation, p *loaderPlan) error {
	addr := net.JoinHostPort(f.statsdHost, strconv.Itoa(f.statsdPort))
	if f.statsdProbe || f.testProbe {
		switch err := sink.ProbeStatsD(addr); {
		case err == nil:
		case f.testProbe:
			return exit.Errorf("no StatsD listens at %s: %w", addr, err)
		case f.given("statsdip") || f.given("statsdport"):
			inv.Warnf("no StatsD listens at %s, so no metrics are sent: %v", addr, err)
			return nil
		default:
			inv.Debugf("no StatsD listens at %s, so no metrics are sent: %v", addr, err)
			return nil
		}
	}
	f.Exports.StatsD, f.Exports.StatsDLoader = addr, strconv.FormatUint(p.id, 16)
	return nil
}

// openTable opens the output of the table.
func (f *loaderFlags) openTable(inv *command.Invocation) (out io.Writer, closeOut func(), err error) {
	if f.statsOutput == "" {
		return inv.Out, func() {}, nil
	}
	file, err := os.Create(f.statsOutput)
	if err != nil {
		return nil, nil, exit.Usagef("--stats-output: %w", err)
	}
	return file, func() { _ = file.Close() }, nil
}

// An aisloaderLoad is a load whose report is aisloader's table.
type aisloaderLoad struct {
	*session.Local
	flags *loaderFlags
	plan  *loaderPlan
	table *Table
	found int // objects to read that were in the bucket
	began time.Time

	transforms bool // the transformation was started
}

// Open sets the properties and the transformation in AIStore, and then opens the run.
func (l *aisloaderLoad) Open(ctx context.Context) error {
	if err := l.setProperties(ctx); err != nil {
		return l.Session.Flags.Target.ExplainOpen(ctx, err)
	}
	if err := l.startTransform(ctx); err != nil {
		return l.Session.Flags.Target.ExplainOpen(ctx, err)
	}
	return l.Local.Open(ctx)
}

func (l *aisloaderLoad) Run(ctx context.Context, sinks []recording.Sink) error {
	return l.Local.Run(ctx, append([]recording.Sink{l.table}, sinks...))
}

// Report completes the log and the table.
func (l *aisloaderLoad) Report(_ context.Context, out *session.Outcome) error {
	unsaved, err := l.Save(out)
	if err != nil || l.began.IsZero() {
		return err
	}
	if err := l.table.Finish(); err != nil {
		return exit.Errorf("the table is not complete: %w", err)
	}
	s := l.Session
	for _, note := range out.Trailer.Notes {
		s.Warnf("%s", l.flags.ownWords(note))
	}
	if out.Trailer.Reason != "" {
		s.Notef("%s", l.flags.ownWords(out.Trailer.Reason))
	}
	if l.flags.statsOutput != "" {
		s.Notef("statistics are in %s", l.flags.statsOutput)
	}
	l.say(fmt.Sprintf("\nActual run duration: %v", time.Since(l.began)))
	return unsaved
}

// say writes to standard output what aisloader says there beside its table. --json has only the list there.
func (l *aisloaderLoad) say(text string) {
	if !l.Session.JSON && !l.Session.Quiet {
		_ = l.Session.Resultf("%s\n", l.Session.Hide.Text(text))
	}
}

// A loaderConfig describes a run before it begins, as aisloader does.
type loaderConfig struct {
	Proxy    string `json:"proxy"`
	Provider string `json:"provider"`
	Bucket   string `json:"bucket"`
	Duration string `json:"duration"`
	Total    int64  `json:"put upper bound"`
	Put      int    `json:"put %"`
	Min      int64  `json:"minimal object size in Bytes"`
	Max      int64  `json:"maximum object size in Bytes"`
	Workers  int    `json:"worker count"`
	Interval string `json:"stats interval"`
	Backing  string `json:"backed by"`
	Cleanup  bool   `json:"cleanup"`
	Seed     uint64 `json:"seed,string"`
}

func (l *aisloaderLoad) sayConfig() {
	f, o := l.flags, &l.plan.opts
	if f.pctPut < 100 && !f.getConfig {
		l.say("Found " + human.Count(l.found, "existing object", "existing objects") + "\n")
	}
	duration := o.Duration.String()
	if o.Duration == 0 {
		duration = "-"
	}
	text, err := json.MarshalIndent(loaderConfig{
		Proxy: strings.Join(l.Target.Client.Endpoints(), ", "), Provider: l.plan.bucket.Provider, Bucket: o.Bucket, Duration: duration,
		Total: o.TotalSize, Put: f.pctPut, Min: l.plan.op.Sizes.Min(), Max: l.plan.op.Sizes.Max(), Workers: o.Concurrency,
		Interval: (time.Duration(f.statsInterval) * time.Second).String(), Backing: f.readerType, Cleanup: !l.plan.keep, Seed: o.Seed,
	}, "", "    ")
	if err == nil {
		l.say("Run configuration:\n" + string(text))
	}
}

// loaderProgress shows aisloader's table while a run is measured.
type loaderProgress struct {
	session.Progress
	load *aisloaderLoad
}

func (p *loaderProgress) Measuring() (stop func()) {
	l := p.load
	l.sayConfig()
	l.began = time.Now()
	l.table.Begin()
	if l.flags.statsInterval == 0 {
		return func() {}
	}
	return live.Every(time.Duration(l.flags.statsInterval)*time.Second, l.table.Interval)
}

// CleanUp removes the objects of the run, and with --cleanup=true also the objects of earlier runs and the bucket.
func (l *aisloaderLoad) CleanUp(ctx context.Context, err error) (note string, failed error) {
	l.stopTransform(ctx)
	note, failed = l.Local.CleanUp(ctx, err)
	switch {
	case l.plan.opts.NoBucket:
		return "", failed
	case failed != nil || !l.Opened:
		return note, failed
	case l.plan.keep && l.plan.opts.ReadOnly:
		return "", nil
	case l.plan.keep:
		return fmt.Sprintf("objects stay in bucket %s; warp aisloader with -bucket=%s -duration=0 -cleanup=true removes them", l.plan.opts.Bucket, l.flags.bucket), nil
	case ctx.Err() != nil:
		return note, nil // somebody waits
	case !l.plan.kept:
		return l.flags.removeBucket(ctx, l.Target.Client, "this run's", 0)
	}
	return l.flags.removeKept(ctx, l.Session.Invocation, l.Target.Client)
}

// cleanOnly removes what earlier runs wrote.
func (f *loaderFlags) cleanOnly(ctx context.Context, inv *command.Invocation) error {
	target, err := f.Target.Open(ctx, inv, f.Concurrent, func(error) {})
	if err != nil {
		return err
	}
	defer target.Close()
	exists, err := target.Client.BucketExists(ctx, f.Target.Buckets[0])
	if err != nil {
		return f.Target.ExplainOpen(ctx, err)
	}
	if !exists {
		inv.Notef("bucket %s does not exist, so there is nothing to clean up", f.Target.Buckets[0])
		return nil
	}
	note, err := f.removeKept(ctx, inv, target.Client)
	if err != nil {
		return f.Target.Explain(err)
	}
	inv.Notef("%s", note)
	return nil
}

// removeKept removes what dead runs have left in the bucket, and then the bucket.
func (f *loaderFlags) removeKept(ctx context.Context, inv *command.Invocation, client *store.Client) (note string, err error) {
	o := session.CleanOptions(inv, client, f.Target.Buckets[0], f.Concurrent)
	o.Batch = f.batch
	left, err := lease.Clean(ctx, o, lease.Selection{Kept: true})
	if err != nil {
		return "", err
	}
	var removed int64
	for _, run := range left {
		removed += run.Objects
		if !run.Chosen {
			inv.Warnf("run %s may be alive, so its objects stay", run.Run)
		}
	}
	return f.removeBucket(ctx, client, "warp's", removed)
}

// removeBucket removes the bucket if it is warp's and empty, and says what has been done. Objects of others stay: that is
// the one thing that aisloader does otherwise.
func (f *loaderFlags) removeBucket(ctx context.Context, client *store.Client, whose string, objects int64) (note string, err error) {
	bucket := f.Target.Buckets[0]
	gone, foreign, err := lease.RemoveBucket(ctx, client, bucket)
	if err != nil {
		return "", err
	}
	note = "cleaned up"
	if objects > 0 {
		note += ": " + human.Plural(objects, "object") + " of earlier runs removed"
	}
	switch {
	case gone:
		return note + "; bucket " + bucket + " removed", nil
	case foreign > 0:
		return fmt.Sprintf("%s; bucket %s stays: %s", note, bucket, human.Count(foreign, "object in it is not ", "objects in it are not ")+whose), nil
	}
	return note + "; bucket " + bucket + " stays", nil
}
