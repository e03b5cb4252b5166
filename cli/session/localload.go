package session

import (
	"context"
	"fmt"
	"time"

	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/session/plan"
	"warp/cli/target"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/replay"
	"warp/pkg/results"
	"warp/pkg/store"
)

// A Local is a benchmark in this process.
type Local struct {
	Session *Session
	Target  *target.Target
	Runner  *bench.Runner
	Opened  bool // runner is
	live    monitor.Live
	summary *aggregate.Summary
	replay  *replay.Fidelity // nil unless the run is a replay
	log     *oplog.File      // nil with --stress
	out     *bench.Outcome
}

// NewLocal opens the store that the flags name. It calls full when the
// embedded store is full.
func NewLocal(ctx context.Context, s *Session, op bench.Op, full func(error)) (*Local, error) {
	target, err := s.Flags.Target.Open(ctx, s.Invocation, s.Options.Concurrency, full)
	if err != nil {
		return nil, err
	}
	s.Options.Promise(target.Client.Contract())
	return &Local{Session: s, Target: target, Runner: &bench.Runner{
		Client: target.Client, Op: op, Options: s.Options, Progress: &Progress{Session: s}, Panicking: s.Close, Gate: s.gate(),
	}}, nil
}

// gate returns the function that waits until the run may be measured; nil = it may start now.
func (s *Session) gate() func(context.Context) (time.Time, error) {
	sync := s.Flags.Sync.gate(s.Invocation)
	if s.Flags.Serverprof == "" {
		return sync
	}
	return func(ctx context.Context) (time.Time, error) { return s.server.Wait(ctx, sync) }
}

var _ liveLoad = (*Local)(nil)

func (l *Local) Open(ctx context.Context) error {
	if err := l.Session.openStore(ctx, l.Target.Client, l.Runner.Open); err != nil {
		return err
	}
	l.Opened = true
	l.Session.Notef("seed %d", l.Session.Options.Seed)
	plan.Note(l.Session.Invocation, &l.Session.Flags.Target, &l.Session.Options, l.Session.Flags.Plan, 0)
	return nil
}

func (l *Local) Run(ctx context.Context, sinks []recording.Sink) error {
	own, err := l.sinks()
	if err != nil {
		return err
	}
	l.out = l.Runner.Run(ctx, append(own, sinks...)...)
	return nil
}

// sinks returns the log and the figures of this run. Sinks that read figures come after the sinks that count them.
func (l *Local) sinks() ([]recording.Sink, error) {
	f := l.Session.Flags
	o := f.Analysis.Options()
	if !f.Stress && needsLog(o) {
		o.Verbose = false // its memory would grow during the run
	}
	l.summary = aggregate.NewSummary(o)
	sinks := []recording.Sink{&l.live, l.summary}
	if l.Session.Options.Replay != nil {
		l.replay = &replay.Fidelity{}
		sinks = append(sinks, l.replay)
	}
	if f.Autoterm.On {
		sinks = append(sinks, newAutoterm(&f.Autoterm, l.Snapshot, l.Runner.Finish))
	}
	if f.Asserts.Abort {
		sinks = append(sinks, &abortSink{assertAbort: l.Session.assertAbort(l.Runner.Finish), summary: l.summary})
	}
	if p := l.Session.page; p != nil {
		sinks = append(sinks, p.Feed(l.summary, l.Session.header(l.Target.Client.EngineName())))
	}
	if f.Stress {
		return sinks, nil
	}
	var err error
	if l.log, err = oplog.Create(l.Session.path, l.Session.header(l.Target.Client.EngineName())); err != nil {
		return nil, exit.Errorf("%w", err)
	}
	return append(sinks, l.log), nil
}

func (l *Local) Outcome() *Outcome { return &Outcome{Outcome: l.out} }

func (l *Local) Report(_ context.Context, out *Outcome) error {
	unsaved, err := l.Save(out)
	if err != nil {
		return err
	}
	var report *results.Report
	switch o := l.Session.Flags.Analysis.Options(); {
	case out.Sent == 0:
	case l.Session.written != "" && needsLog(o):
		// A run that was stopped by a first Ctrl-C is reported, too.
		report, err = runlog.Analyze(context.Background(), l.Session.written, nil, o)
	default:
		report, err = l.summarize(out)
	}
	if err == nil {
		err = l.Session.conclude(report, out)
	}
	if err == nil {
		err = unsaved
	}
	return err
}

// Save completes the log. There is a report even if the log could not be renamed.
func (l *Local) Save(out *Outcome) (unsaved, err error) {
	switch {
	case out.Sent == 0:
		if l.log != nil {
			err = l.Session.commit(l.log, out)
		}
		l.Session.warnOfNothing(out)
		return nil, err
	case l.log != nil:
		return l.Session.commit(l.log, out), nil
	}
	return nil, nil
}

// summarize returns the report of the summary. It is
// the same as the report of analyze about the log.
func (l *Local) summarize(out *Outcome) (*results.Report, error) {
	l.summary.Close(out.Trailer)
	report, err := l.summary.Report()
	if err == nil {
		report.Describe(l.Session.header(l.Target.Client.EngineName()), out.Trailer)
		if l.replay != nil {
			report.Replay = l.replay.Report(l.Session.Options.Replay)
		}
	}
	return report, err
}

func (l *Local) CleanUp(ctx context.Context, _ error) (note string, err error) {
	if err := l.Runner.Cleanup(ctx); err != nil {
		return "", err
	}
	o := &l.Session.Options
	switch {
	case l.Runner.Kept():
		return fmt.Sprintf("objects are kept under %s; warp clean --bucket=%s --run=%s removes them", o.FullPrefix(), o.Buckets(), o.RunID), nil
	case l.Opened:
		return "Cleanup done.", nil
	}
	return "", nil
}

func (l *Local) Close() { l.Target.Close() }

func (l *Local) Store(context.Context) (*store.Client, error) { return l.Target.Client, nil }

func (l *Local) Snapshot() monitor.Snapshot { return l.live.Snapshot(time.Now().UnixNano()) }

func (l *Local) Mark(text string) (oplog.Mark, error) { return l.Runner.Mark(text) }

func (l *Local) Finish(why string) { l.Runner.Finish(why) }

func (l *Local) SetTrace(on bool) { l.Runner.SetTrace(on) }
