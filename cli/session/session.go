// Package session is one run, from its start to its report: files, load, progress, report and clean-up.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/reports"
	"warp/cli/session/exports"
	"warp/cli/session/marks"
	"warp/cli/session/serverprof"
	"warp/cli/session/upload"
	"warp/cli/session/webpage"
	"warp/internal/runsocket"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/sink"
	"warp/pkg/store"
)

// A Session is one run from start to report, independent of where its load is
// made.
type Session struct {
	*command.Invocation
	Flags   *RunFlags
	Options bench.Options
	Load    Load
	path    string // of the op log

	profiles profileFiles
	stats    *statsFile
	exports  exports.Exports
	rows     *sink.Rows // nil without --stdout
	server   *serverprof.Profiles
	upload   *upload.Upload
	marker   *marks.Marker
	plan     *marks.Plan
	clients  int           // of a fleet; 0 = the load is made here
	page     *webpage.Page // nil without --web and --serve
	written  string        // the op log, once it is complete
}

// New prepares a run whose op log goes to path. Its load is set before it runs.
func New(inv *command.Invocation, f *RunFlags, o bench.Options, path string) *Session {
	o.Warp = inv.Version
	return &Session{Invocation: inv, Flags: f, Options: o, path: path}
}

// A Load makes the requests of a session: a benchmark in this process
// ([Local]), on the clients of a fleet ([Fleet]), or a script ([Script]).
type Load interface {
	// Open connects to the store or the clients, and shows the plan. Whatever fails at once, fails here.
	Open(ctx context.Context) error
	// Run prepares and measures. The sinks get all rows, unless clients make the load.
	Run(ctx context.Context, sinks []recording.Sink) error
	// Outcome returns how the run ended. It is called after Run and EndRows.
	Outcome() *Outcome
	// Report completes the log, sets its path, and shows the report.
	Report(ctx context.Context, out *Outcome) error
	// CleanUp removes what the run wrote, and ends it if it was not measured because of err. The note says what it did.
	CleanUp(ctx context.Context, err error) (note string, failed error)
	Close()

	// Store returns the client that asks MinIO for profiles of itself.
	Store(ctx context.Context) (*store.Client, error)
	Mark(text string) (oplog.Mark, error)
	SetTrace(on bool)
}

// A liveLoad is a Load that can be watched and stopped while it is measured. Scripts have a table instead.
type liveLoad interface {
	Snapshot() monitor.Snapshot
	// Finish ends the measurement early but in good order, and records why.
	Finish(why string)
}

// A remoteLoad is a Load of clients on other machines.
type remoteLoad interface {
	// EndRows waits until all rows of --stdout have been passed on.
	EndRows() error
	// Metrics returns the counts of each client, for Prometheus.
	Metrics() []sink.ClientCounts
}

// An Outcome is how a load ended.
type Outcome struct {
	*bench.Outcome
	lost    error // clients whose share is missing; nil = none
	allLost bool
}

// Run opens, prepares, measures, reports, cleans up and uploads.
func (s *Session) Run(ctx context.Context) error {
	// A run is not measured if nobody could read its report.
	if _, err := s.Out.Write(nil); err != nil {
		return err
	}
	s.marker = marks.New(s.Console, s.Load.Mark)
	defer s.close(ctx)
	if err := s.openFiles(ctx); err != nil {
		return err
	}
	defer s.marker.Listen(s.Env, runsocket.Info{ID: s.Options.RunID, Command: s.Options.Benchmark, Start: time.Now().UTC()})()
	s.Hangups.Begin(s.Options.TraceHTTP, s.Load.SetTrace)
	err := s.open(ctx)
	if err == nil {
		err = s.measure(ctx)
	}
	if s.rows != nil { // it has failed
		s.rows.Release() // or clients would wait for a reader that does not read
	}
	return s.uploadLog(ctx, s.cleanUp(ctx, err))
}

// openFiles creates the files of the run, and checks that its log can be uploaded.
func (s *Session) openFiles(ctx context.Context) (err error) {
	if s.upload, err = s.Flags.Upload.Open(ctx, s.Invocation, s.path); err != nil {
		return err
	}
	if s.stats, err = createStatsFile(s.Flags.Progress.Output, s.Console, s.snapshot); err != nil {
		return err
	}
	s.page, err = s.Flags.Web.Open(webpage.Source{
		Invocation: s.Invocation, Duration: s.Options.Duration, Concurrency: s.Options.Concurrency, Log: s.path, Marker: s.marker,
		Header: func() oplog.Header { return s.header("") }, Snapshot: s.snapshot, Finish: s.finish,
	})
	if err != nil {
		return err
	}
	s.profiles, err = s.Flags.Profile.Open()
	return err
}

// openStore sends the first requests to a store. It notes a long silence, and explains an error.
func (s *Session) openStore(ctx context.Context, client *store.Client, open func(context.Context) error) error {
	stop := s.Flags.Target.NoteSilence(s.Console, client)
	err := open(ctx)
	stop()
	if err != nil {
		return s.Flags.Target.ExplainOpen(ctx, err)
	}
	return nil
}

func (s *Session) open(ctx context.Context) (err error) {
	if err := s.Load.Open(ctx); err != nil {
		return err
	}
	s.server, err = serverprof.Start(ctx, s.Console, serverprof.Options{
		Kinds: s.Flags.Serverprof, Path: strings.TrimSuffix(s.path, oplog.Suffix) + ".profiles.zip",
		Store: s.Load.Store, Target: &s.Flags.Target, Coordinator: s.Flags.Fleet.Clients != "",
	})
	if err != nil {
		return err
	}
	run := exports.Source{Console: s.Console, Options: &s.Options}
	if l, ok := s.Load.(remoteLoad); ok {
		run.Clients = l.Metrics
	}
	s.exports, err = s.Flags.Exports.Open(ctx, run)
	return err
}

// close closes everything that is still open, however the run ended.
func (s *Session) close(ctx context.Context) {
	s.exports.End(ctx, s.Console)
	s.server.Discard()
	s.profiles.Discard()
	s.stats.Close()
	s.upload.Close()
	s.Load.Close()
	_, _ = s.closeRows(ctx, nil) // it has failed in any case
	s.page.End(ctx)
}

// measure runs the load, saves the log and shows the report.
func (s *Session) measure(ctx context.Context) error {
	sinks := s.exports.Sinks()
	if s.rows == nil {
		s.rows = s.openRows()
	}
	if s.rows != nil {
		sinks = append(sinks, s.rows)
	}
	if err := s.Load.Run(ctx, sinks); err != nil {
		return err
	}
	s.stats.Finish()
	notes := s.exports.Close()
	lost, incomplete := s.endRows(ctx)
	out := s.Load.Outcome()
	out.Trailer.Notes = slices.Concat(out.Trailer.Notes, notes, lost, s.plan.Notes())
	s.Hide.Strings(&out.Trailer)
	return exit.Join(withRows(s.verdict(out), incomplete), s.Load.Report(ctx, out))
}

// endRows ends the rows of --stdout. It is an error if rows are missing.
func (s *Session) endRows(ctx context.Context) (notes []string, incomplete error) {
	var unread error
	notes, incomplete = s.closeRows(ctx, func() {
		if l, ok := s.Load.(remoteLoad); ok {
			unread = l.EndRows()
		}
	})
	s.rows = nil
	if unread != nil {
		unread = exit.Errorf("--stdout: rows are missing: %w", unread)
	}
	return notes, exit.Join(unread, incomplete)
}

// snapshot returns the live figures.
func (s *Session) snapshot() monitor.Snapshot {
	if l, ok := s.Load.(liveLoad); ok {
		return l.Snapshot()
	}
	return monitor.Snapshot{}
}

// finish ends the measurement early, if the load can.
func (s *Session) finish(why string) {
	if l, ok := s.Load.(liveLoad); ok {
		l.Finish(why)
	}
}

// needsLog reports whether the report needs the complete log.
func needsLog(o aggregate.Options) bool {
	return o.Verbose || o.Limit > 0 || o.Offset > 0 || o.Cache > 0
}

// conclude shows the report, nil if nothing was measured, and judges the
// assertions about it. It is an error if there was only a preparation, unless
// another error has ended the run.
func (s *Session) conclude(r *results.Report, out *Outcome) (err error) {
	if r == nil && len(s.Flags.Asserts.All) == 0 {
		return nil
	}
	if r != nil && out.Fatal == nil && out.lost == nil && s.Flags.Analysis.Everything() && onlyPrepared(r) {
		err = exit.Errorf("no request was made after the preparation, so nothing was measured").WithHint("run longer")
	}
	if r == nil {
		r = &results.Report{Version: 2, Benchmark: s.Options.Benchmark, Warnings: []string{}, Groups: []results.GroupReport{}, Operations: []results.Operation{}}
	}
	var verdict error
	if s.Options.Checks != nil && s.written != "" {
		if r.Consistency, verdict = reports.JudgeConsistency(s.written); r.Consistency != nil {
			verdict = reports.ConsistencyVerdict(r.Consistency)
		}
	}
	if !s.Flags.Stress {
		s.Flags.Analysis.Log = cmp.Or(s.written, s.path) // a fleet writes its log later
	}
	concluded := reports.Conclude(s.Invocation, r, &s.Flags.Analysis, &s.Flags.Asserts, s.Options.Benchmark)
	s.page.Show(r)
	return exit.Join(exit.Join(err, verdict), concluded)
}

func onlyPrepared(r *results.Report) bool {
	return !slices.ContainsFunc(r.Operations, func(o results.Operation) bool { return r.Groups[o.Group].Kind != "preparation" })
}

// commit completes the log. Without a request, there is no log.
func (s *Session) commit(log *oplog.File, out *Outcome) error {
	if out.Sent == 0 {
		return log.Discard()
	}
	written, err := log.Commit(out.Trailer)
	if err != nil {
		return exit.Errorf("%w", err)
	}
	s.written = written
	s.Notef("Benchmark data written to %q", written)
	return nil
}

// warnOfNothing warns that there are no figures if the run has failed for another
// reason.
func (s *Session) warnOfNothing(out *Outcome) {
	if out.Fatal != nil {
		s.Warnf("%s", nothingMeasured(out))
	}
}

func nothingMeasured(out *Outcome) string {
	switch {
	case out.allLost:
		return "no client's share is complete, so there is no op log and no report"
	case out.Trailer.CutOff != nil:
		return "no request was answered, so there is no op log and no report"
	}
	return "no request was made, so there is no op log and no report"
}

// verdict returns the error that determines the exit code of the run.
func (s *Session) verdict(out *Outcome) error {
	err := s.requestsVerdict(out)
	switch {
	case out.lost == nil:
		return err
	case err == nil || out.allLost:
		return out.lost
	}
	return fmt.Errorf("%w; and %w", err, out.lost)
}

func (s *Session) requestsVerdict(out *Outcome) error {
	limit := s.Options.MaxErrors
	switch {
	case errors.Is(out.Fatal, bench.ErrTooManyErrors):
		return exit.Requestsf("%w", out.Fatal)
	case errors.Is(out.Fatal, bench.ErrInterrupted):
		return out.Fatal
	case out.Fatal != nil:
		return s.Flags.Target.Explain(out.Fatal)
	case out.Sent == 0:
		return exit.Errorf("%s", nothingMeasured(out))
	case !limit.Allows(out.Failed, out.Sent):
		return exit.Requestsf("%d of %d requests failed", out.Failed, out.Sent)
	}
	return nil
}

// uploadLog uploads the log of the run, however the run ended, and returns err. It comes last: by then
// the bucket is clean, and clients are free.
func (s *Session) uploadLog(ctx context.Context, err error) error {
	if s.upload == nil || s.written == "" {
		return err
	}
	return exit.Join(err, s.upload.Send(context.WithoutCancel(ctx), s.Console, s.written))
}

// cleanUp removes what the run wrote, however it ended, and returns err.
func (s *Session) cleanUp(ctx context.Context, err error) error {
	note, failed := s.Load.CleanUp(ctx, err)
	switch {
	case failed == nil:
		if note != "" {
			s.Notef("%s", note)
		}
		return err
	case err == nil:
		return exit.Errorf("%w", failed)
	}
	s.Warnf("%v", failed)
	return err
}

// profile profiles warp itself until end is called. A failed profile does not
// end the run.
func (s *Session) profile() (end func()) {
	warn := func(err error) {
		if err != nil {
			s.Warnf("%v", err)
		}
	}
	warn(s.profiles.Begin())
	return func() { warn(s.profiles.End()) }
}
