package session

import (
	"time"

	"warp/cli/terminal/live"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// An assertAbort is a sink that checks, about once a second, whether an
// assertion can no longer hold. It ignores the rows and reads the summary,
// which is written right before.
type assertAbort struct {
	summary  *aggregate.Summary
	all      []*assert.Assertion
	duration time.Duration // of the run; 0 = unknown
	finish   func(why string)
	window   oplog.Window
}

func (a *assertAbort) Write([]oplog.Record) error { return nil }

// SetWindow records when the run began.
func (a *assertAbort) SetWindow(w oplog.Window) error {
	a.window = w
	return nil
}

func (a *assertAbort) Flush() error {
	if a.window.Begin == 0 || a.window.End != 0 {
		return nil
	}
	return a.check(a.summary, time.Now())
}

// check ends the run if the figures so far decide an assertion.
func (a *assertAbort) check(s *aggregate.Summary, now time.Time) error {
	report, err := s.Report()
	if err != nil {
		return nil // the end of the run reports it
	}
	left := time.Duration(-1)
	if a.duration > 0 {
		left = max(0, time.Unix(0, a.window.Start).Add(a.duration).Sub(now))
	}
	if why := unreachable(a.all, report, left); why != "" {
		a.finish(why)
	}
	return nil
}

// unreachable says why one of the assertions can no longer hold, or "" if all
// can.
func unreachable(all []*assert.Assertion, r *results.Report, left time.Duration) string {
	for _, a := range all {
		if why := assert.Unreachable(a, r, left); why != "" {
			return why
		}
	}
	return ""
}

// fleetCheckInterval is how often --assert-abort checks the figures of a fleet.
const fleetCheckInterval = 2 * time.Second

// watchAssertions ends the measured run of the fleet once an assertion can no
// longer hold. The run begins now.
func (l *Fleet) watchAssertions() (stop func()) {
	f := l.s.Flags
	if !f.Asserts.Abort {
		return func() {}
	}
	began := time.Now()
	return live.Every(fleetCheckInterval, func() {
		r := l.fleet.ReportSoFar()
		if r == nil {
			return
		}
		left := time.Duration(-1)
		if d := l.s.Options.Duration; d > 0 {
			left = max(0, d-time.Since(began))
		}
		if why := unreachable(f.Asserts.All, r, left); why != "" {
			l.fleet.End(why)
		}
	})
}
