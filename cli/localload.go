package cli

import (
	"context"
	"fmt"
	"time"

	"warp/cli/autoterm"
	"warp/cli/exit"
	"warp/cli/plan"
	"warp/cli/runlog"
	"warp/cli/target"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/sink"
	"warp/pkg/store"
)

// A localLoad is a benchmark in this process.
type localLoad struct {
	s       *session
	target  *target.Target
	runner  *bench.Runner
	opened  bool // runner is
	live    monitor.Live
	summary *aggregate.Summary
	log     *oplog.File // nil with --stress
	out     *bench.Outcome
}

// newLocalLoad opens the store that the flags name. It calls full when the
// embedded store is full.
func newLocalLoad(ctx context.Context, s *session, op bench.Op, full func(error)) (*localLoad, error) {
	target, err := s.flags.target.Open(ctx, s.Invocation, s.opts.Concurrency, full)
	if err != nil {
		return nil, err
	}
	return &localLoad{s: s, target: target, runner: &bench.Runner{
		Client: target.Client, Op: op, Options: s.opts, Progress: &benchProgress{s: s}, Panicking: s.Close, Gate: s.gate(),
	}}, nil
}

// gate returns the function that waits until the run may be measured; nil = it may start now.
func (s *session) gate() func(context.Context) (time.Time, error) {
	sync := s.flags.sync.gate(s.Invocation)
	if s.flags.serverprof == "" {
		return sync
	}
	return func(ctx context.Context) (time.Time, error) { return s.server.Wait(ctx, sync) }
}

func (l *localLoad) open(ctx context.Context) error {
	stop := l.s.flags.target.NoteSilence(l.s.Console, l.target.Client)
	err := l.runner.Open(ctx)
	stop()
	if err != nil {
		return l.s.flags.target.ExplainOpen(ctx, err)
	}
	l.opened = true
	l.s.Notef("seed %d", l.s.opts.Seed)
	plan.Note(l.s.Invocation, &l.s.flags.target, &l.s.opts, l.s.flags.plan, 0)
	return nil
}

func (l *localLoad) run(ctx context.Context, sinks []recording.Sink) error {
	own, err := l.sinks()
	if err != nil {
		return err
	}
	l.out = l.runner.Run(ctx, append(own, sinks...)...)
	return nil
}

// sinks returns the log and the figures of this run. Sinks that read figures come after the sinks that count them.
func (l *localLoad) sinks() ([]recording.Sink, error) {
	f := l.s.flags
	o := f.analysis.options()
	if !f.stress && needsLog(o) {
		o.Verbose = false // its memory would grow during the run
	}
	l.summary = aggregate.NewSummary(o)
	sinks := []recording.Sink{&l.live, l.summary}
	if f.autoterm.On {
		sinks = append(sinks, autoterm.New(&f.autoterm, l.snapshot, l.runner.Finish))
	}
	if f.asserts.abort {
		sinks = append(sinks, &assertAbort{summary: l.summary, all: f.asserts.all, duration: l.s.opts.Duration, finish: l.runner.Finish})
	}
	if p := l.s.page; p != nil {
		sinks = append(sinks, p.Feed(l.summary, l.s.header(l.target.Client.EngineName())))
	}
	if f.stress {
		return sinks, nil
	}
	var err error
	if l.log, err = oplog.Create(l.s.path, l.s.header(l.target.Client.EngineName())); err != nil {
		return nil, exit.Errorf("%w", err)
	}
	return append(sinks, l.log), nil
}

func (l *localLoad) endRows() error { return nil }

func (l *localLoad) outcome() *outcome { return &outcome{Outcome: l.out} }

func (l *localLoad) report(_ context.Context, out *outcome) error {
	unsaved, err := l.save(out)
	if err != nil {
		return err
	}
	var report *results.Report
	switch o := l.s.flags.analysis.options(); {
	case out.Sent == 0:
	case l.s.written != "" && needsLog(o):
		// A run that was stopped by a first Ctrl-C is reported, too.
		report, err = runlog.Analyze(context.Background(), l.s.written, nil, o)
	default:
		report, err = l.summarize(out)
	}
	if err == nil {
		err = l.s.conclude(report, out)
	}
	if err == nil {
		err = unsaved
	}
	return err
}

// save completes the log. There is a report even if the log could not be renamed.
func (l *localLoad) save(out *outcome) (unsaved, err error) {
	switch {
	case out.Sent == 0:
		if l.log != nil {
			err = l.s.commit(l.log, out)
		}
		l.s.warnOfNothing(out)
		return nil, err
	case l.log != nil:
		return l.s.commit(l.log, out), nil
	}
	return nil, nil
}

// summarize returns the report of the summary. It is
// the same as the report of analyze about the log.
func (l *localLoad) summarize(out *outcome) (*results.Report, error) {
	l.summary.Close(out.Trailer)
	report, err := l.summary.Report()
	if err == nil {
		report.Describe(l.s.header(l.target.Client.EngineName()), out.Trailer)
	}
	return report, err
}

func (l *localLoad) cleanUp(ctx context.Context, _ error) (note string, err error) {
	if err := l.runner.Cleanup(ctx); err != nil {
		return "", err
	}
	o := &l.s.opts
	switch {
	case l.runner.Kept():
		return fmt.Sprintf("objects are kept under %s; warp clean --bucket=%s --run=%s removes them", o.FullPrefix(), o.Buckets(), o.RunID), nil
	case l.opened:
		return "Cleanup done.", nil
	}
	return "", nil
}

func (l *localLoad) close() { l.target.Close() }

func (l *localLoad) store(context.Context) (*store.Client, error) { return l.target.Client, nil }

func (l *localLoad) snapshot() monitor.Snapshot { return l.live.Snapshot(time.Now().UnixNano()) }

func (l *localLoad) mark(text string) (oplog.Mark, error) { return l.runner.Mark(text) }

func (l *localLoad) finish(why string) { l.runner.Finish(why) }

func (l *localLoad) metrics() func() []sink.ClientCounts { return nil }

func (l *localLoad) setTrace(on bool) { l.runner.SetTrace(on) }
