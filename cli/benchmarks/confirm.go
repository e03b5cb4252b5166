package benchmarks

import (
	"context"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/reports"
	"warp/cli/session"
	"warp/pkg/bench"
	"warp/pkg/oplog"
)

// measure runs a benchmark, here or on other machines. With --hold-pool it only uploads the objects, and keeps them.
func (f *Flags) measure(ctx context.Context, inv *command.Invocation, b benchmark, op bench.Op, o bench.Options) error {
	f.Plan = f.summary(b, &o)
	o.Redact = inv.Hide.Text
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := session.New(inv, &f.RunFlags, o, f.Log)
	load, err := session.NewBenchmark(ctx, s, op, cancel)
	switch {
	case err != nil:
		return err
	case f.pool.hold:
		return load.Hold(ctx)
	}
	s.Load = load
	return s.Run(ctx)
}

// confirmed runs a benchmark, and repeats it if an assertion fails and --confirm is
// given.
func (f *Flags) confirmed(ctx context.Context, inv *command.Invocation, b benchmark, o bench.Options) error {
	text, err := bench.EncodeOp(b.op)
	if err != nil {
		return err
	}
	err = f.measure(ctx, inv, b, b.op, o)
	if f.Asserts.Unconfirmed == nil {
		return err
	}
	if exit.Code(err) != exit.Assertion { // something else is wrong, so the first run decides
		return exit.Join(err, reports.Finish(inv, f.Asserts.Unconfirmed, &f.Analysis, &f.Asserts, b.name))
	}
	inv.Warnf("%v; the run is repeated to confirm it", err)
	if f.Log == strings.TrimSuffix(f.Benchdata, oplog.Suffix)+oplog.Suffix { // the name of a file, and not of a folder
		f.Benchdata = strings.TrimSuffix(f.Log, oplog.Suffix) + "-confirm"
	}
	if o, err = f.ready(b, inv.JSON); err != nil {
		return err
	}
	op, err := bench.DecodeOp(b.op, text) // one that has not run yet
	if err != nil {
		return err
	}
	return f.measure(ctx, inv, b, op, o)
}

// checkAsserts parses the assertions, and returns an error for flags that contradict them.
func (f *Flags) checkAsserts() error {
	if err := f.Asserts.Parse(false, RequestNames()); err != nil {
		return err
	}
	if !f.Asserts.Confirm {
		return nil
	}
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"analyze.out", f.Analysis.Out != ""}, {"web", f.Web.Browser}, {"serve", f.Web.Addr != ""}, {"stats-output", f.Progress.Output != ""}, {"stdout", f.Stdout},
		{"syncstart", f.Sync.Text != ""}, {"upload", f.Upload.URL != ""}, {"cpu and other profiles of warp itself", f.Profile.Any()},
	} {
		if o.given {
			return exit.Usagef("--confirm and --%s cannot be combined: --confirm may run the benchmark twice", o.name)
		}
	}
	return nil
}

// checkAbort returns an error if --assert-abort has assertions that only the end of
// the run can decide.
func (f *Flags) checkAbort() error {
	if !f.Asserts.Abort || f.Ends.Duration > 0 {
		return nil
	}
	for _, a := range f.Asserts.All {
		if !a.Metric.Extreme() || a.Every > 0 {
			return exit.Usagef("--assert-abort: whether %q can still hold is known only if the run has a --duration", a.Text)
		}
	}
	return nil
}
