package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/cli/session/plan"
	"warp/cli/session/serverprof"
	"warp/cli/target"
	"warp/cli/terminal/live"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/fleet"
	"warp/pkg/fleet/protocol"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/sink"
	"warp/pkg/store"
)

// A Fleet is a benchmark on the clients of --warp-client.
type Fleet struct {
	s        *Session
	fleet    *fleet.Fleet
	plan     *fleet.Plan
	target   *target.Target // that --serverprof goes to; nil without
	measured bool
}

// newFleet describes the run for the clients. It connects to none of them yet.
func newFleet(ctx context.Context, s *Session, op bench.Op) (*Fleet, error) {
	l := &Fleet{s: s}
	options, err := s.Flags.Fleet.Options(ctx, s.Invocation)
	if err != nil {
		return nil, err
	}
	s.clients = len(options.Members)
	if l.plan, err = newPlan(ctx, s, op); err != nil {
		return nil, err
	}
	options.Run, options.BeforeStart, options.BeforeStartLead = s.Options.RunID, func(ctx context.Context) { s.server.Restart(ctx) }, serverprof.Lead
	options.Spool = func(client string) string { return SpoolPath(s.path, client) }
	if s.Flags.Stdout {
		options.Rows = func(batch []oplog.Record) error { return s.rows.Write(batch) }
	}
	l.fleet = fleet.New(options)
	return l, nil
}

var (
	_ liveLoad   = (*Fleet)(nil)
	_ remoteLoad = (*Fleet)(nil)
)

func (l *Fleet) Open(ctx context.Context) error {
	l.s.SetLastWarning(l.leftBehind)
	l.s.rows = l.s.openRows() // writes the line with the columns before it waits for clients
	stop := l.watch()
	defer stop()
	if err := l.fleet.Connect(ctx); err != nil {
		return l.explain(err)
	}
	l.showClients()
	l.s.Notef("seed %d", l.s.Options.Seed)
	plan.Note(l.s.Invocation, &l.s.Flags.Target, &l.s.Options, l.s.Flags.Plan, len(l.fleet.Clients()))
	return nil
}

// explain adds what to do about the first answers that a client got from the store.
func (l *Fleet) explain(err error) error {
	var client *fleet.Error
	if errors.As(err, &client) {
		return l.s.Flags.Target.ExplainClient(client)
	}
	return err
}

func (l *Fleet) Close() {
	l.s.SetLastWarning(nil)
	l.fleet.Close()
	if l.target != nil {
		l.target.Close()
	}
}

// SpoolPath returns the path of the log of a client until it is merged into the log at path.
func SpoolPath(path, client string) string {
	return strings.TrimSuffix(path, oplog.Suffix) + "." + client + ".spool"
}

// leftBehind describes the logs that are left if the coordinator ends at once; "" if there are none.
func (l *Fleet) leftBehind() string {
	copies := l.fleet.Copies()
	switch {
	case len(copies) == 0:
		return ""
	case l.s.Flags.Stress:
		return fmt.Sprintf("%s left, such as %q, which can be deleted; this run has no log to collect", human.Plural(len(copies), "file"), copies[0])
	}
	return fmt.Sprintf("the clients stop, clean up and keep their logs; `warp collect --warp-client=%s` gets them. Incomplete copies are left here, %q for instance (%d in all)", l.s.Flags.Fleet.Clients, copies[0], len(copies))
}

// Store returns a client of the coordinator, which asks for profiles: it has the keys, and outlives
// its clients.
func (l *Fleet) Store(ctx context.Context) (client *store.Client, err error) {
	if l.target, err = l.s.Flags.Target.Open(ctx, l.s.Invocation, 1, nil); err != nil {
		return nil, err
	}
	return l.target.Client, nil
}

func (l *Fleet) Snapshot() monitor.Snapshot { return l.fleet.Snapshot() }

func (l *Fleet) Mark(text string) (oplog.Mark, error) { return l.fleet.Mark(text) }

func (l *Fleet) Finish(why string) { l.fleet.End(why) }

func (l *Fleet) Metrics() []sink.ClientCounts { return l.fleet.Metrics() }

func (l *Fleet) SetTrace(on bool) { l.fleet.Trace(on) }

// newPlan describes the run for other machines.
func newPlan(ctx context.Context, s *Session, op bench.Op) (*fleet.Plan, error) {
	text, err := bench.EncodeOp(op)
	if err != nil {
		return nil, err
	}
	store, err := s.Flags.Target.Describe(ctx, s.Invocation, s.Options.Concurrency)
	if err != nil {
		return nil, err
	}
	header := s.header("")
	p := &fleet.Plan{Start: s.Flags.Sync.at(), Job: protocol.Job{Options: s.Options, Op: text, Store: *store, NoLog: s.Flags.Stress && !s.Flags.Stdout, DropLog: s.Flags.Stress, Follow: s.Flags.Asserts.Abort, Analysis: s.Flags.Analysis.Options(), Exports: s.Flags.Exports.Destinations(), Header: oplog.Header{
		Command: s.Line, Seed: s.Options.Seed, Parameters: header.Parameters, Workload: header.Workload,
	}}}
	if size := p.Job.Size(); size > protocol.MaxJob {
		return nil, exit.Usagef("--warp-client: the flags and the files that they name add up to %s, and clients accept %s", flagtype.FormatSize(int64(size)), flagtype.FormatSize(protocol.MaxJob)).
			WithHint("use smaller files")
	}
	return p, nil
}

// showClients shows the clients and their clocks.
func (l *Fleet) showClients() {
	s, clients := l.s, l.fleet.Clients()
	const few = 16
	if len(clients) <= few {
		for _, c := range clients {
			s.Notef("client %s is %s (%s), its clock is %s", c.ID, c.Addr, c.Host, c.Clock)
		}
		return
	}
	var worst, slowest time.Duration
	for _, c := range clients {
		worst, slowest = max(worst, c.Clock.Ahead.Abs()), max(slowest, c.Clock.RoundTrip)
	}
	s.Notef("%d clients; clocks differ by up to %v, round trips take up to %v", len(clients), worst.Round(time.Microsecond), slowest.Round(time.Microsecond))
}

// watch shows the progress of the clients before and after the run.
func (l *Fleet) watch() (stop func()) {
	s := l.s
	var shown *live.Bar
	var title string
	checked := time.Now()
	check := func() {
		before := checked
		checked = time.Now()
		if shown != nil {
			shown.Set(l.fleet.Progress(title)) // the total grows with each client that begins
		}
		now := l.fleet.Doing()
		switch {
		case now == "" && shown != nil:
			shown.Rest() // it may go on, for a client that was lost
		case now == title && shown != nil:
			shown.Resume()
		case now != "":
			if shown != nil {
				shown.Finish()
			}
			title = now
			// It began at some time since the last check; its pace must not look too good.
			shown = s.progress().Bar(live.Task{Title: title, Unit: "objects", Since: before})
			shown.Set(l.fleet.Progress(title))
		}
	}
	end := live.Every(200*time.Millisecond, check)
	return func() {
		end()
		check() // for the progress since then
		if shown != nil {
			shown.Finish()
		}
	}
}

// Run measures and fetches the logs. The clients have sinks of their own.
func (l *Fleet) Run(ctx context.Context, _ []recording.Sink) error {
	stop := l.watch()
	err := l.fleet.Prepare(ctx, *l.plan)
	stop()
	if err != nil {
		return l.explain(err)
	}
	stop = func() {}
	err = l.fleet.Measure(ctx, func() {
		stopShowing, stopSteady, stopAssertions := (&Progress{Session: l.s}).Measuring(), l.watchSteadiness(), l.watchAssertions()
		stop = func() { stopShowing(); stopSteady(); stopAssertions() }
	})
	stop()
	if err != nil {
		return l.explain(err)
	}
	l.measured = true
	// A run that was stopped by a first Ctrl-C is reported, too.
	if err := l.fleet.Finish(context.WithoutCancel(ctx)); err != nil {
		return exit.Errorf("%w", err)
	}
	return nil
}

func (l *Fleet) EndRows() error { return l.fleet.EndRows() }

func (l *Fleet) Outcome() *Outcome {
	r := l.fleet.Result()
	if r.Sent > 0 {
		l.s.Notef("%s began within %v", human.Plural(r.Clients-len(r.Lost), "client"), r.Spread.Round(time.Microsecond))
	}
	out := &Outcome{Outcome: &bench.Outcome{Sent: r.Sent, Failed: r.Failed, Fatal: r.Fatal}, allLost: len(r.Lost) == r.Clients}
	if len(r.Lost) > 0 {
		out.lost = exit.Requestsf("%s of %d lost, whose share is missing; %w", human.Plural(len(r.Lost), "client"), r.Clients, r.Lost[0])
	}
	return out
}

// Report shows the sums of all clients, and merges their logs.
func (l *Fleet) Report(ctx context.Context, out *Outcome) error {
	ctx = context.WithoutCancel(ctx)
	for _, note := range out.Trailer.Notes {
		l.fleet.AddNote(note)
	}
	s := l.s
	// Only the merged log is exact about marks, because clients learn of them a little late. Consistency is judged from all
	// requests together.
	if o := s.Flags.Analysis.Options(); (needsLog(o) || len(s.marker.All()) > 0 || s.Options.Checks != nil) && !s.Flags.Stress {
		if err := l.merge(ctx); err != nil || s.written == "" {
			return err
		}
		report, err := runlog.Analyze(ctx, s.written, nil, o)
		if err != nil {
			return err
		}
		return s.conclude(report, out)
	}
	report, err := l.fleet.Report()
	switch {
	case errors.Is(err, fleet.ErrNoRequests):
		s.warnOfNothing(out)
		err = s.conclude(nil, out)
	case err != nil:
		err = exit.Errorf("%w", err)
	default:
		err = s.conclude(report, out)
	}
	if s.Flags.Stress {
		l.fleet.DropLogs()
		return err
	}
	return exit.Join(err, l.merge(ctx))
}

// merge merges the clients' logs.
func (l *Fleet) merge(ctx context.Context) error {
	s := l.s
	stats, left, err := l.fleet.Merge(ctx, s.path)
	for _, name := range left {
		s.Warnf("the part of a lost client's log that arrived is in %q", name)
	}
	if errors.Is(err, fleet.ErrNoLogs) {
		return nil
	}
	if err != nil {
		return exit.Errorf("%w", err)
	}
	for _, w := range stats.Warnings {
		s.Warnf("%s", w)
	}
	s.written = stats.Path
	s.Notef("Benchmark data written to %q", stats.Path)
	return nil
}

// CleanUp removes what the run wrote and releases the clients.
func (l *Fleet) CleanUp(_ context.Context, err error) (note string, failed error) {
	if !l.measured {
		return "", l.fleet.Abort(context.Background(), err)
	}
	stop := l.watch()
	defer stop()
	if err := l.fleet.Clean(context.Background()); err != nil {
		return "", err
	}
	if o := &l.s.Options; o.KeepData || o.NoClear {
		return fmt.Sprintf("objects of all clients are kept; warp clean --bucket=%s --run=%s-1 removes the objects of the first client, and so on", o.Buckets(), o.RunID), nil
	}
	return "Cleanup done.", nil
}

// steadyInterval is the time between two checks of the figures of a fleet. They come
// once a second from each client, and count when all clients have sent theirs.
const steadyInterval = 200 * time.Millisecond

// watchSteadiness ends the measured run of the fleet once its throughput, all
// clients together, has become steady.
func (l *Fleet) watchSteadiness() (stop func()) {
	if !l.s.Flags.Autoterm.On {
		return func() {}
	}
	a := newAutoterm(&l.s.Flags.Autoterm, nil, l.fleet.End)
	return live.Every(steadyInterval, func() {
		if snap, ok := l.fleet.Even(); ok {
			a.Observe(&snap)
		}
	})
}

// CheckFleet returns an error for flags that clients on other machines do not support.
func (f *RunFlags) CheckFleet() error {
	if err := f.Fleet.Check(); err != nil || f.Fleet.Clients == "" {
		return err
	}
	switch {
	case f.Target.Host == target.EmbeddedHost:
		return exit.Usagef("--host=embedded is a store in this process, and --warp-client runs elsewhere: name a store that all clients reach")
	case f.Stress && !f.Stdout && f.Analysis.Verbose:
		return exit.Usagef("--analyze.v, --stress and --warp-client cannot be combined: without an op log, clients do not report single objects")
	case f.Profile.Any():
		return exit.Usagef("--cpu, --mem and their like are profiles of this process, which makes no load with --warp-client").
			WithHint("leave them out, or run the benchmark without --warp-client; --serverprof has the store profile itself")
	case f.Target.Signature == "IAM":
		return exit.Usagef("--signature=IAM and --warp-client cannot be combined: the keys expire while clients use them").
			WithHint("use keys that last")
	}
	return nil
}
