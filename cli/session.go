package cli

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
	"warp/cli/exports"
	"warp/cli/marks"
	"warp/cli/profile"
	"warp/cli/runlog"
	"warp/cli/serverprof"
	"warp/cli/statsfile"
	"warp/cli/upload"
	"warp/cli/webpage"
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

// A session is one run from start to report, independent of where its load is
// made.
type session struct {
	*command.Invocation
	flags *runFlags
	opts  bench.Options
	load  load
	path  string // of the op log

	profiles profile.Files
	stats    *statsfile.File
	exports  exports.Exports
	rows     *sink.Rows // nil without --stdout
	server   *serverprof.Profiles
	upload   *upload.Upload
	marker   *marks.Marker
	plan     *marks.Plan
	page     *webpage.Page // nil without --web and --serve
	written  string        // the op log, once it is complete
}

// newSession prepares a run whose op log goes to path. Its load is set before it runs.
func newSession(inv *command.Invocation, f *runFlags, o bench.Options, path string) *session {
	o.Warp = inv.Version
	return &session{Invocation: inv, flags: f, opts: o, path: path}
}

// A load makes the requests of a session: a benchmark in this process
// (localLoad), on the clients of a fleet (fleetLoad), or a script (scriptLoad).
type load interface {
	// open connects to the store or the clients, and shows the plan. Whatever fails at once, fails here.
	open(ctx context.Context) error
	// run prepares and measures. The sinks get all rows, unless clients make the load.
	run(ctx context.Context, sinks []recording.Sink) error
	// endRows waits until all rows of --stdout have been passed on.
	endRows() error
	// outcome returns how the run ended. It is called after run and endRows.
	outcome() *outcome
	// report completes the log, sets its path, and shows the report.
	report(ctx context.Context, out *outcome) error
	// cleanUp removes what the run wrote, and ends it if it was not measured because of err. The note says what it did.
	cleanUp(ctx context.Context, err error) (note string, failed error)
	close()

	// store returns the client that asks MinIO for profiles of itself.
	store(ctx context.Context) (*store.Client, error)
	snapshot() monitor.Snapshot
	mark(text string) (oplog.Mark, error)
	// finish ends the measurement early but in good order, and records why.
	finish(why string)
	// metrics returns the counts of clients for Prometheus; nil if this process counts.
	metrics() func() []sink.ClientCounts
	setTrace(on bool)
}

// An outcome is how a load ended.
type outcome struct {
	*bench.Outcome
	lost    error // clients whose share is missing; nil = none
	allLost bool
}

// run opens, prepares, measures, reports, cleans up and uploads.
func (s *session) run(ctx context.Context) error {
	s.marker = marks.New(s.Console, s.load.mark)
	defer s.close(ctx)
	if err := s.openFiles(ctx); err != nil {
		return err
	}
	defer s.marker.Listen(s.Env, runsocket.Run{ID: s.opts.RunID, Command: s.opts.Benchmark, Start: time.Now().UTC()})()
	s.Hangups.Begin(s.opts.TraceHTTP, s.load.setTrace)
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
func (s *session) openFiles(ctx context.Context) (err error) {
	if s.upload, err = s.flags.upload.Open(ctx, s.Invocation, s.path); err != nil {
		return err
	}
	if s.stats, err = statsfile.Create(s.flags.progress.output, s.Console, s.snapshot); err != nil {
		return err
	}
	s.page, err = s.flags.web.Open(webpage.Run{
		Invocation: s.Invocation, Duration: s.opts.Duration, Concurrency: s.opts.Concurrency, Log: s.path, Marker: s.marker,
		Header: func() oplog.Header { return s.header("") }, Snapshot: s.snapshot, Finish: s.load.finish,
	})
	if err != nil {
		return err
	}
	s.profiles, err = s.flags.profile.Open()
	return err
}

func (s *session) open(ctx context.Context) (err error) {
	if err := s.load.open(ctx); err != nil {
		return err
	}
	s.server, err = serverprof.Start(ctx, s.Console, serverprof.Options{
		Kinds: s.flags.serverprof, Path: strings.TrimSuffix(s.path, runlog.Suffix) + ".profiles.zip",
		Store: s.load.store, Target: &s.flags.target, Coordinator: s.flags.fleet.Clients != "",
	})
	if err != nil {
		return err
	}
	s.exports, err = s.flags.exports.Open(ctx, exports.Run{Console: s.Console, Options: &s.opts, Clients: s.load.metrics()})
	return err
}

// close closes what is left open, however the run ended.
func (s *session) close(ctx context.Context) {
	s.exports.End(ctx, s.Console)
	s.server.Discard()
	s.profiles.Discard()
	s.stats.Close()
	s.upload.Close()
	s.load.close()
	_, _ = s.closeRows(ctx, nil) // it has failed in any case
	s.page.End(ctx)
}

// measure runs the load, saves the log and shows the report.
func (s *session) measure(ctx context.Context) error {
	sinks := s.exports.Sinks()
	if s.rows == nil {
		s.rows = s.openRows()
	}
	if s.rows != nil {
		sinks = append(sinks, s.rows)
	}
	if err := s.load.run(ctx, sinks); err != nil {
		return err
	}
	s.stats.Finish()
	notes := s.exports.Close()
	lost, incomplete := s.endRows(ctx)
	out := s.load.outcome()
	out.Trailer.Notes = slices.Concat(out.Trailer.Notes, notes, lost, s.plan.Notes())
	s.Hide.Strings(&out.Trailer)
	return exit.Join(withRows(s.verdict(out), incomplete), s.load.report(ctx, out))
}

// endRows ends the rows of --stdout. It is an error if rows are missing.
func (s *session) endRows(ctx context.Context) (notes []string, incomplete error) {
	var unread error
	notes, incomplete = s.closeRows(ctx, func() { unread = s.load.endRows() })
	s.rows = nil
	if unread != nil {
		unread = exit.Errorf("--stdout: rows are missing: %w", unread)
	}
	return notes, exit.Join(unread, incomplete)
}

// measuring shows the figures of the run until stop is called.
func (s *session) measuring() (stop func()) {
	return (&benchProgress{s: s}).Measuring()
}

// snapshot returns the live figures.
func (s *session) snapshot() monitor.Snapshot { return s.load.snapshot() }

// needsLog reports whether the report needs the complete log.
func needsLog(o aggregate.Options) bool { return o.Verbose || o.Limit > 0 || o.Offset > 0 }

// conclude shows the report, nil if nothing was measured, and judges the
// assertions about it. It is an error if there was only a preparation, unless
// another error has ended the run.
func (s *session) conclude(r *results.Report, out *outcome) (err error) {
	if r == nil && len(s.flags.asserts.all) == 0 {
		return nil
	}
	if r != nil && out.Fatal == nil && out.lost == nil && s.flags.analysis.everything() && onlyPrepared(r) {
		err = exit.Errorf("no request was made after the preparation, so nothing was measured").WithHint("run longer")
	}
	if r == nil {
		r = &results.Report{Version: 2, Benchmark: s.opts.Benchmark, Warnings: []string{}, Groups: []results.GroupReport{}, Operations: []results.Operation{}}
	}
	if !s.flags.stress {
		s.flags.analysis.log = cmp.Or(s.written, s.path) // a fleet writes its log later
	}
	concluded := conclude(s.Invocation, r, &s.flags.analysis, &s.flags.asserts, s.opts.Benchmark)
	s.page.Show(r)
	return exit.Join(err, concluded)
}

func onlyPrepared(r *results.Report) bool {
	return !slices.ContainsFunc(r.Operations, func(o results.Operation) bool { return r.Groups[o.Group].Kind != "preparation" })
}

// header returns the header of the log.
func (s *session) header(engine string) oplog.Header {
	h := s.opts.Header(engine, time.Now())
	h.Command, h.Parameters = s.Line, parameters(s.Invocation)
	return h
}

// commit completes the log. Without a request, there is no log.
func (s *session) commit(log *oplog.File, out *outcome) error {
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
func (s *session) warnOfNothing(out *outcome) {
	if out.Fatal != nil {
		s.Warnf("%s", nothingMeasured(out))
	}
}

func nothingMeasured(out *outcome) string {
	if out.Trailer.CutOff != nil {
		return "no request was answered, so there is no op log and no report"
	}
	return "no request was made, so there is no op log and no report"
}

// verdict returns the error that determines the exit code of the run.
func (s *session) verdict(out *outcome) error {
	err := s.requestsVerdict(out)
	switch {
	case out.lost == nil:
		return err
	case err == nil || out.allLost:
		return out.lost
	}
	return fmt.Errorf("%w; and %w", err, out.lost)
}

func (s *session) requestsVerdict(out *outcome) error {
	limit := s.opts.MaxErrors
	switch {
	case errors.Is(out.Fatal, bench.ErrTooManyErrors):
		return exit.Requestsf("%w", out.Fatal)
	case errors.Is(out.Fatal, bench.ErrInterrupted):
		return out.Fatal
	case out.Fatal != nil:
		return s.flags.target.Explain(out.Fatal)
	case out.Sent == 0:
		return exit.Errorf("%s", nothingMeasured(out))
	case !limit.Allows(out.Failed, out.Sent):
		return exit.Requestsf("%d of %d requests failed", out.Failed, out.Sent)
	}
	return nil
}

// uploadLog uploads the log of the run, however the run ended, and returns err. It comes last: by then
// the bucket is clean, and clients are free.
func (s *session) uploadLog(ctx context.Context, err error) error {
	if s.upload == nil || s.written == "" {
		return err
	}
	return exit.Join(err, s.upload.Send(context.WithoutCancel(ctx), s.Console, s.written))
}

// cleanUp removes what the run wrote, however it ended, and returns err.
func (s *session) cleanUp(ctx context.Context, err error) error {
	note, failed := s.load.cleanUp(ctx, err)
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
func (s *session) profile() (end func()) {
	warn := func(err error) {
		if err != nil {
			s.Warnf("%v", err)
		}
	}
	warn(s.profiles.Begin())
	return func() { warn(s.profiles.End()) }
}
