package cli

import (
	"time"

	"warp/cli/live"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// An assertAbort is a sink that looks, about once a second, whether an
// assertion cannot hold any more. Rows are nothing to it: it reads the summary
// that they were written to right before.
type assertAbort struct {
	summary  *aggregate.Summary
	all      []*assert.Assertion
	duration time.Duration // of the run; 0 = unknown
	finish   func(why string)
	window   oplog.Window
}

func (a *assertAbort) Write([]oplog.Record) error { return nil }

// SetWindow takes note of when the run began.
func (a *assertAbort) SetWindow(w oplog.Window) error {
	a.window = w
	return nil
}

func (a *assertAbort) Flush() error {
	if a.window.Begin == 0 || a.window.End != 0 {
		return nil
	}
	return a.look(a.summary, time.Now())
}

// look ends the run where the figures so far decide about it.
func (a *assertAbort) look(s *aggregate.Summary, now time.Time) error {
	report, err := s.Report()
	if err != nil {
		return nil // it is said at the end of the run
	}
	left := time.Duration(-1)
	if a.duration > 0 {
		left = max(0, time.Unix(0, a.window.Start).Add(a.duration).Sub(now))
	}
	if why := hopeless(a.all, report, left); why != "" {
		a.finish(why)
	}
	return nil
}

// hopeless says why one of the assertions cannot hold any more, "" where all of
// them may.
func hopeless(all []*assert.Assertion, r *results.Report, left time.Duration) string {
	for _, a := range all {
		if why := assert.Hopeless(a, r, left); why != "" {
			return why
		}
	}
	return ""
}

// fleetLook is how often the figures of a fleet are looked at for --assert-abort.
const fleetLook = 2 * time.Second

// watchAssertions ends the measured run of the fleet once an assertion cannot
// hold any more. The run begins now.
func (l *fleetLoad) watchAssertions() (stop func()) {
	f := l.s.flags
	if !f.asserts.abort {
		return func() {}
	}
	began := time.Now()
	return live.Every(fleetLook, func() {
		r := l.fleet.ReportSoFar()
		if r == nil {
			return
		}
		left := time.Duration(-1)
		if d := l.s.opts.Duration; d > 0 {
			left = max(0, d-time.Since(began))
		}
		if why := hopeless(f.asserts.all, r, left); why != "" {
			l.fleet.End(why)
		}
	})
}
