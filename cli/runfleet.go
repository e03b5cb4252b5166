package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/fleet"
	"warp/pkg/oplog"
)

// runFleet runs op on the clients of --warp-client and reports as if they were
// one machine.
func runFleet(ctx context.Context, inv *invocation, f *benchFlags, op bench.Op, o bench.Options) error {
	s := &session{invocation: inv, flags: f, opts: o}
	path := f.log
	options, err := f.fleet.options(ctx, inv)
	if err != nil {
		return err
	}
	plan, err := s.fleetPlan(ctx, op)
	if err != nil {
		return err
	}
	if s.upload, err = f.upload.open(ctx, inv, path); err != nil {
		return err
	}
	defer s.upload.close()
	if s.stats, err = s.openStats(f.progress.output); err != nil {
		return err
	}
	defer s.stats.close()
	options.Run, options.BeforeStart, options.BeforeStartLead = o.RunID, s.beginServerProfiles, profileLead
	options.Spool = func(client string) string { return spoolPath(path, client) }
	if s.rows = s.openRows(); s.rows != nil {
		options.Rows = s.rows.Write
	}
	s.fleet = fleet.New(options)
	defer s.fleet.Close()
	left := func() string { return s.leftBehind(f.fleet.clients) }
	inv.parting.Store(&left)
	defer inv.parting.Store(nil)
	if s.rows != nil {
		defer s.rows.Release() // or that would wait for a reader that does not read
	}
	inv.hangups.begin(o.TraceHTTP, s.fleet.Trace)
	if f.exports.showsMetrics() {
		if s.exports.prometheus, err = f.exports.openPrometheus(s, o.RunID, s.fleet.Metrics); err != nil {
			return err
		}
		defer s.exports.end(ctx, s)
	}
	endProfiles, err := s.profileServers(ctx, path)
	defer endProfiles()
	if err != nil {
		return err
	}
	stop := s.watchFleet()
	err = s.fleet.Connect(ctx)
	if err == nil {
		s.showClients()
		inv.notef("seed %d", o.Seed)
		inv.notef("%s, on each of %s", f.plan, human.Plural(len(s.fleet.Clients()), "client"))
		err = s.fleet.Prepare(ctx, *plan)
	}
	stop()
	if err != nil {
		return s.abortFleet(ctx, err)
	}
	return s.uploadLog(ctx, s.cleanFleet(s.measureFleet(ctx, path)))
}

// spoolPath is where the log of a client is kept until it is merged to the one at path.
func spoolPath(path, client string) string {
	return strings.TrimSuffix(path, ".csv.zst") + "." + client + ".spool"
}

// leftBehind is what whoever ends the coordinator at once has to know of the logs; "" where it has none.
func (s *session) leftBehind(clients string) string {
	copies := s.fleet.Copies()
	switch {
	case len(copies) == 0:
		return ""
	case s.flags.stress:
		return fmt.Sprintf("%s left, %q for instance, which can be deleted; there is no log of this run to be collected", human.Plural(len(copies), "file"), copies[0])
	}
	return fmt.Sprintf("the clients stop, clean up and keep their logs; `warp collect --warp-client=%s` gets them. Incomplete copies are left here, %q for instance (%d in all)", clients, copies[0], len(copies))
}

// profileServers has the store profile itself, which is the coordinator's to
// ask for: it has the keys, and is there until the end whatever happens to clients.
func (s *session) profileServers(ctx context.Context, log string) (end func(), err error) {
	if s.flags.serverprof == "" {
		return func() {}, nil
	}
	target, err := s.flags.target.open(ctx, s.invocation, 1, nil)
	if err != nil {
		return func() {}, err
	}
	end = func() {
		s.discardServerProfiles()
		target.close()
	}
	return end, s.startServerProfiles(ctx, target.client, log)
}

// fleetPlan describes the run so that other machines can do it.
func (s *session) fleetPlan(ctx context.Context, op bench.Op) (*fleet.Plan, error) {
	text, err := bench.EncodeOp(op)
	if err != nil {
		return nil, err
	}
	store, err := s.flags.target.describe(ctx, s.invocation, s.flags.concurrent)
	if err != nil {
		return nil, err
	}
	p := &fleet.Plan{Start: s.flags.sync.at(), Job: fleet.Job{Options: s.opts, Op: text, Store: *store, NoLog: s.flags.stress && !s.flags.stdout, DropLog: s.flags.stress, Analysis: s.flags.analysis.options(), Exports: s.flags.exports.destinations(), Header: oplog.Header{
		Command: s.line, Seed: s.opts.Seed, Parameters: s.parameters(),
	}}}
	if size := p.Job.Size(); size > fleet.MaxJob {
		return nil, usageError("--warp-client: what the flags and the files that they name come to is %s, and clients take %s", flagtype.FormatSize(int64(size)), flagtype.FormatSize(fleet.MaxJob)).
			tell("use smaller files")
	}
	return p, nil
}

// showClients says who takes part, and how their clocks are.
func (s *session) showClients() {
	clients := s.fleet.Clients()
	const few = 16
	if len(clients) <= few {
		for _, c := range clients {
			s.notef("client %s is %s (%s), its clock is %s", c.ID, c.Addr, c.Host, c.Clock)
		}
		return
	}
	var worst, slowest time.Duration
	for _, c := range clients {
		worst, slowest = max(worst, c.Clock.Ahead.Abs()), max(slowest, c.Clock.RoundTrip)
	}
	s.notef("%d clients; clocks differ by up to %v, round trips take up to %v", len(clients), worst.Round(time.Microsecond), slowest.Round(time.Microsecond))
}

// watchFleet shows what the clients do before and after the run.
func (s *session) watchFleet() (stop func()) {
	var shown *bar
	var title string
	looked := s.now()
	look := func() {
		before := looked
		looked = s.now()
		if shown != nil {
			done, total := s.fleet.Progress(title)
			shown.total.Store(total) // it grows with each client that begins
			shown.done.Store(done)
		}
		now := s.fleet.Doing()
		switch {
		case now == "" && shown != nil:
			shown.rest() // it may go on, for a client that was lost
		case now == title && shown != nil:
			shown.resume()
		case now != "":
			if shown != nil {
				shown.finish()
			}
			title = now
			done, total := s.fleet.Progress(title)
			// It began at some time since the look before; what is said of its pace must not be too good.
			shown = s.startBarAt(before, title, "objects", total, s.flags.progress.interval)
			shown.done.Store(done)
		}
	}
	end := every(200*time.Millisecond, look)
	return func() {
		end()
		look() // what was done since
		if shown != nil {
			shown.finish()
		}
	}
}

// measureFleet measures what is prepared, brings the logs together and shows
// the report.
func (s *session) measureFleet(ctx context.Context, path string) error {
	// What a first Ctrl-C stopped is brought together and reported all the same.
	late := context.WithoutCancel(ctx)
	stopWatching := func() {}
	err := s.fleet.Measure(ctx, func() {
		live := s.startLive(s.snapshot, s.opts.Duration, s.flags.progress.interval)
		stopStats, stopSteady := s.stats.begin(s.flags.progress.interval), s.watchSteadiness()
		stopWatching = func() { live.finish(); stopStats(); stopSteady(); s.saveServerProfiles() }
	})
	stopWatching()
	if err != nil {
		return s.abortFleet(ctx, err)
	}
	if err := s.fleet.Finish(late); err != nil {
		return runError("%w", err)
	}
	s.stats.finish()
	for _, lost := range s.exports.close() {
		s.fleet.AddNote(s.hide.text(lost))
	}
	incomplete := s.endRows(ctx)
	result := s.fleet.Result()
	inner := withRows(s.fleetVerdict(result), incomplete)
	if result.Sent > 0 {
		s.notef("%s began within %v", human.Plural(result.Clients-len(result.Lost), "client"), result.Spread.Round(time.Microsecond))
	}
	return both(inner, s.reportFleet(late, path))
}

// endRows ends the rows of --stdout, and says which are missing.
func (s *session) endRows(ctx context.Context) error {
	var unread error
	notes, incomplete := s.closeRows(ctx, func() { unread = s.fleet.EndRows() })
	for _, lost := range notes {
		s.fleet.AddNote(s.hide.text(lost))
	}
	if unread != nil {
		unread = runError("--stdout: rows are missing: %w", unread)
	}
	return both(unread, incomplete)
}

// reportFleet shows what the clients have counted, all together, and makes one
// log of theirs.
func (s *session) reportFleet(ctx context.Context, path string) error {
	if o := s.flags.analysis.options(); needsLog(o) && !s.flags.stress {
		if err := s.mergeFleet(ctx, path); err != nil || s.written == "" {
			return err
		}
		report, err := analyzeFile(ctx, s.written, nil, o)
		if err != nil {
			return err
		}
		return s.conclude(report)
	}
	report, err := s.fleet.Report()
	switch {
	case errors.Is(err, fleet.ErrNoRequests):
		s.warnf("no request was made, so there is no op log and no report")
		err = s.conclude(nil)
	case err != nil:
		err = runError("%w", err)
	default:
		err = s.conclude(report)
	}
	if s.flags.stress {
		s.fleet.DropLogs()
		return err
	}
	return both(err, s.mergeFleet(ctx, path))
}

// mergeFleet merges the logs of the clients.
func (s *session) mergeFleet(ctx context.Context, path string) (err error) {
	stats, left, err := s.fleet.Merge(ctx, path)
	for _, name := range left {
		s.warnf("what arrived of the log of a client that was lost is in %q", name)
	}
	if errors.Is(err, fleet.ErrNoLogs) {
		return nil
	}
	if err != nil {
		return runError("%w", err)
	}
	for _, w := range stats.Warnings {
		s.warnf("%s", w)
	}
	s.written = stats.Path
	s.notef("Benchmark data written to %q", stats.Path)
	return nil
}

// fleetVerdict is what the exit code of the run follows from.
func (s *session) fleetVerdict(r *fleet.Result) error {
	err := s.verdict(&bench.Outcome{Sent: r.Sent, Failed: r.Failed, Fatal: r.Fatal})
	if len(r.Lost) == 0 {
		return err
	}
	lost := requestsFailed("%s of %d lost, whose share is missing; %w", human.Plural(len(r.Lost), "client"), r.Clients, r.Lost[0])
	if err == nil || len(r.Lost) == r.Clients {
		return lost
	}
	return fmt.Errorf("%w; and %w", err, lost)
}

// abortFleet ends a run that was not measured.
func (s *session) abortFleet(ctx context.Context, err error) error {
	if s.rows != nil {
		s.rows.Release()
	}
	if cleanErr := s.fleet.Abort(context.Background(), err); cleanErr != nil {
		s.warnf("%v", cleanErr)
	}
	_, _ = s.closeRows(ctx, nil) // it has failed in any case
	var client *fleet.Error
	if errors.As(err, &client) {
		return runError("%w", s.flags.target.explainOpen(err))
	}
	return err
}

// cleanFleet removes what the run wrote and lets the clients go.
func (s *session) cleanFleet(err error) error {
	stop := s.watchFleet()
	cleanErr := s.fleet.Clean(context.Background())
	stop()
	switch {
	case cleanErr == nil && (s.opts.KeepData || s.opts.NoClear):
		s.notef("objects of all clients are kept; warp clean --bucket=%s --run=%s-1 removes those of the first, and so on", s.opts.Buckets(), s.opts.RunID)
		return err
	case cleanErr == nil:
		s.notef("Cleanup done.")
		return err
	case err == nil:
		return runError("%w", cleanErr)
	}
	s.warnf("%v", cleanErr)
	return err
}
