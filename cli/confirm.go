package cli

import (
	"context"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/runlog"
	"warp/pkg/bench"
)

// measure runs a benchmark, here or on other machines.
func (f *benchFlags) measure(ctx context.Context, inv *command.Invocation, b benchmark, op bench.Op, o bench.Options) error {
	f.plan = f.summary(b, &o)
	o.Redact = inv.Hide.Text
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := newSession(inv, &f.runFlags, o, f.log)
	var err error
	if f.fleet.Clients != "" {
		s.load, err = newFleetLoad(ctx, s, op)
	} else {
		s.load, err = newLocalLoad(ctx, s, op, cancel)
	}
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// confirmed runs a benchmark, and repeats it if an assertion fails and --confirm is
// given.
func (f *benchFlags) confirmed(ctx context.Context, inv *command.Invocation, b benchmark, o bench.Options) error {
	text, err := bench.EncodeOp(b.op)
	if err != nil {
		return err
	}
	err = f.measure(ctx, inv, b, b.op, o)
	if f.asserts.unconfirmed == nil {
		return err
	}
	if exit.Code(err) != exit.Assertion { // something else is wrong, so the first run decides
		return exit.Join(err, finish(inv, f.asserts.unconfirmed, &f.analysis, &f.asserts, b.name))
	}
	inv.Warnf("%v; the run is repeated to confirm it", err)
	if f.log == strings.TrimSuffix(f.benchdata, runlog.Suffix)+runlog.Suffix { // the name of a file, and not of a folder
		f.benchdata = strings.TrimSuffix(f.log, runlog.Suffix) + "-confirm"
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
func (f *benchFlags) checkAsserts() error {
	if err := f.asserts.parse(false, operations()); err != nil {
		return err
	}
	if !f.asserts.confirm {
		return nil
	}
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"analyze.out", f.analysis.out != ""}, {"web", f.web.Browser}, {"serve", f.web.Addr != ""}, {"stats-output", f.progress.output != ""}, {"stdout", f.stdout},
		{"syncstart", f.sync.text != ""}, {"upload", f.upload.URL != ""}, {"cpu and other profiles of warp itself", f.profile.Any()},
	} {
		if o.given {
			return exit.Usagef("--confirm may run the benchmark twice, and --%s is for one run", o.name).WithHint("leave out one of them")
		}
	}
	return nil
}

// checkAbort returns an error if --assert-abort has assertions that only the end of
// the run can decide.
func (f *benchFlags) checkAbort() error {
	if !f.asserts.abort || f.ends.duration > 0 {
		return nil
	}
	for _, a := range f.asserts.all {
		if !a.Metric.Extreme() || a.Every > 0 {
			return exit.Usagef("--assert-abort: that %q cannot hold any more is known only where the run has a --duration", a.Text)
		}
	}
	return nil
}
