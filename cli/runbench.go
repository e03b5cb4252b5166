package cli

import (
	"context"
	"errors"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/fleet"
	"warp/pkg/oplog"
	"warp/pkg/sink"
)

// A session is one benchmark from start to report.
type session struct {
	*invocation
	flags *benchFlags
	opts  bench.Options

	live     aggregate.Live
	log      *oplog.File // nil with --stress
	summary  *aggregate.Summary
	runner   *bench.Runner
	opened   bool  // runner is
	unsaved  error // why the log did not get its name
	profiles profiles
	stats    *statsFile   // nil without --stats-output
	fleet    *fleet.Fleet // nil without --warp-client
	exports  exports
	rows     *sink.Rows // nil without --stdout
	server   serverProfiles
	upload   *upload // nil without --upload
	written  string  // the op log, once it is complete
}

// runBenchmark runs op and reports: prepare, measure, save, report, clean up.
func runBenchmark(ctx context.Context, inv *invocation, f *benchFlags, op bench.Op, o bench.Options) error {
	o.Redact = inv.hide.text
	s := &session{invocation: inv, flags: f, opts: o}
	path := ""
	if !f.stress {
		path = f.log
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	target, err := f.target.open(ctx, inv, f.concurrent, cancel)
	if err != nil {
		return err
	}
	defer target.close()
	if s.upload, err = f.upload.open(ctx, inv, path); err != nil {
		return err
	}
	defer s.upload.close()
	if s.stats, err = s.openStats(f.progress.output); err != nil {
		return err
	}
	defer s.stats.close()
	if s.profiles, err = f.profile.open(); err != nil {
		return err
	}
	defer s.profiles.discard()
	s.runner = &bench.Runner{Client: target.client, Op: op, Options: o, Progress: s.benchProgress(), Gate: s.gate(f.sync.gate(inv))}
	inv.hangups.begin(o.TraceHTTP, s.runner.SetTrace)
	stop := f.target.sayWaiting(inv.console, target.client)
	err = s.runner.Open(ctx)
	stop()
	if err != nil {
		return s.cleanUp(ctx, f.target.unopened(ctx, err))
	}
	s.opened = true
	inv.notef("seed %d", o.Seed)
	inv.notef("%s", f.plan)
	defer s.discardServerProfiles()
	if err := s.startServerProfiles(ctx, target.client, path); err != nil {
		return s.cleanUp(ctx, err)
	}
	if s.exports, err = f.exports.open(ctx, s); err != nil {
		return s.cleanUp(ctx, err)
	}
	defer s.exports.end(ctx, s)
	return s.uploadLog(ctx, s.cleanUp(ctx, s.measure(ctx, path)))
}

// measure runs what is open, saves the log and shows the report.
func (s *session) measure(ctx context.Context, path string) error {
	sinks, err := s.sinks(path)
	if err != nil {
		return err
	}
	if s.rows = s.openRows(); s.rows != nil {
		sinks = append(sinks, s.rows)
	}
	out := s.runner.Run(ctx, sinks...)
	s.stats.finish()
	inner := s.settle(ctx, out)
	report, err := s.report(out)
	if err == nil {
		err = s.conclude(report)
	}
	if err == nil {
		err = s.unsaved
	}
	return both(inner, err)
}

// settle ends what the rows went to beside the log, notes what did not arrive there, and says what the exit code of the
// run follows from.
func (s *session) settle(ctx context.Context, out *bench.Outcome) error {
	out.Trailer.Notes = append(out.Trailer.Notes, s.exports.close()...)
	notes, incomplete := s.closeRows(ctx, nil)
	out.Trailer.Notes = append(out.Trailer.Notes, notes...)
	s.hide.strings(&out.Trailer)
	return withRows(s.verdict(out), incomplete)
}

func (s *session) sinks(path string) ([]bench.Sink, error) {
	sinks := append([]bench.Sink{&s.live}, s.exports.sinks()...)
	if s.flags.autoterm.on {
		sinks = append(sinks, &autoterm{live: s.snapshot, finish: s.runner.Finish, flags: &s.flags.autoterm})
	}
	o := s.flags.analysis.options()
	if path != "" && needsLog(o) {
		o.Verbose = false // its memory would grow during the run
	}
	s.summary = aggregate.NewSummary(o)
	sinks = append(sinks, s.summary)
	if s.flags.asserts.abort {
		sinks = append(sinks, s.assertAbort())
	}
	if path == "" {
		return sinks, nil
	}
	log, err := oplog.Create(path, s.header())
	if err != nil {
		return nil, runError("%w", err)
	}
	s.log = log
	return append(sinks, log), nil
}

// needsLog says whether the report is made of the log, once that is complete.
func needsLog(o aggregate.Options) bool { return o.Verbose || o.Limit > 0 || o.Offset > 0 }

// conclude shows the report of what was measured, which is nil where nothing
// was, and judges the assertions about it.
func (s *session) conclude(r *aggregate.Report) error {
	if r == nil && len(s.flags.asserts.all) == 0 {
		return nil
	}
	if r == nil {
		r = &aggregate.Report{Version: 2, Benchmark: s.opts.Benchmark, Warnings: []string{}, Groups: []aggregate.GroupReport{}, Operations: []aggregate.Operation{}}
	}
	return s.invocation.conclude(r, &s.flags.analysis, &s.flags.asserts, s.opts.Benchmark)
}

// header says in the log what was run.
func (s *session) header() oplog.Header {
	o := &s.opts
	return oplog.Header{
		Warp: o.Warp, Run: o.RunID, Client: o.ClientID, Benchmark: o.Benchmark,
		Windowed: true,
		Command:  s.line, Engine: s.runner.Client.EngineName(), Seed: o.Seed,
		Start: time.Now().UTC(), Parameters: s.parameters(),
	}
}

// report saves the log and makes the report of what was measured. It is nil
// where nothing was measured.
func (s *session) report(out *bench.Outcome) (*aggregate.Report, error) {
	if s.log == nil {
		if out.Sent == 0 {
			s.warnf("no request was %s, so there is no report", madeOrAnswered(out))
			return nil, nil
		}
		return s.summarize(out)
	}
	if out.Sent == 0 {
		if err := s.log.Discard(); err != nil {
			return nil, err
		}
		s.warnf("no request was %s, so there is no op log and no report", madeOrAnswered(out))
		return nil, nil
	}
	written, err := s.log.Commit(out.Trailer)
	if err != nil {
		s.unsaved = runError("%w", err)
	} else {
		s.written = written
		s.notef("Benchmark data written to %q", written)
	}
	if o := s.flags.analysis.options(); err == nil && needsLog(o) {
		// What a first Ctrl-C stopped is reported all the same.
		return analyzeFile(context.Background(), written, nil, o)
	}
	return s.summarize(out)
}

// summarize makes the report of what was counted while the run lasted. It is
// the same as analyze makes of the log.
func (s *session) summarize(out *bench.Outcome) (*aggregate.Report, error) {
	s.summary.Close(out.Trailer)
	report, err := s.summary.Report()
	if err == nil {
		report.Describe(s.header(), out.Trailer)
	}
	return report, err
}

func madeOrAnswered(out *bench.Outcome) string {
	if out.Trailer.CutOff != nil {
		return "answered"
	}
	return "made"
}

// verdict is what the exit code of the run follows from.
func (s *session) verdict(out *bench.Outcome) error {
	limit := s.opts.MaxErrors
	switch {
	case errors.Is(out.Fatal, bench.ErrTooManyErrors):
		return requestsFailed("%w", out.Fatal)
	case errors.Is(out.Fatal, bench.ErrInterrupted):
		return out.Fatal
	case out.Fatal != nil:
		return s.flags.target.explain(out.Fatal)
	case !limit.Allows(out.Failed, out.Sent):
		return requestsFailed("%d of %d requests failed", out.Failed, out.Sent)
	}
	return nil
}

// cleanUp removes what the run wrote, however it ended, and returns err.
func (s *session) cleanUp(ctx context.Context, err error) error {
	cleanErr := s.runner.Cleanup(ctx)
	switch {
	case cleanErr == nil && s.runner.Kept():
		s.notef("objects are kept under %s; warp clean --bucket=%s --run=%s removes them", s.opts.FullPrefix(), s.opts.Buckets(), s.opts.RunID)
		return err
	case cleanErr == nil:
		if s.opened {
			s.notef("Cleanup done.")
		}
		return err
	case err == nil:
		return runError("%w", cleanErr)
	}
	s.warnf("%v", cleanErr)
	return err
}

// starts says whether the run has only just started.
func starts(w oplog.Window) bool { return w.Begin == 0 && w.End == 0 }
