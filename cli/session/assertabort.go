package session

import (
	"time"

	"warp/cli/terminal/live"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// An assertAbort ends a run once one of its assertions can no longer hold.
type assertAbort struct {
	all      []*assert.Assertion
	duration time.Duration // of the run; 0 = unknown
	finish   func(why string)
}

// check ends the run if the figures so far decide an assertion.
func (a *assertAbort) check(r *results.Report, elapsed time.Duration) {
	left := time.Duration(-1)
	if a.duration > 0 {
		left = max(0, a.duration-elapsed)
	}
	for _, assertion := range a.all {
		if why := assert.Unreachable(assertion, r, left); why != "" {
			a.finish(why)
			return
		}
	}
}

// An abortSink is a sink that checks the assertions about once a second. It ignores the rows and reads
// the summary, which is written right before.
type abortSink struct {
	assertAbort
	summary *aggregate.Summary
	window  oplog.Window
}

func (a *abortSink) Write([]oplog.Record) error { return nil }

// SetWindow records when the run began.
func (a *abortSink) SetWindow(w oplog.Window) error {
	a.window = w
	return nil
}

func (a *abortSink) Flush() error {
	if a.window.Begin == 0 || a.window.End != 0 {
		return nil
	}
	if r, err := a.summary.Report(); err == nil { // the end of the run reports the error
		a.check(r, time.Since(time.Unix(0, a.window.Start)))
	}
	return nil
}

// fleetCheckInterval is how often --assert-abort checks the figures of a fleet.
const fleetCheckInterval = 2 * time.Second

// watchAssertions ends the measured run of the fleet once an assertion can no
// longer hold. The run begins now.
func (l *Fleet) watchAssertions() (stop func()) {
	if !l.s.Flags.Asserts.Abort {
		return func() {}
	}
	a, began := l.s.assertAbort(l.fleet.End), time.Now()
	return live.Every(fleetCheckInterval, func() {
		if r := l.fleet.ReportSoFar(); r != nil {
			a.check(r, time.Since(began))
		}
	})
}

func (s *Session) assertAbort(finish func(why string)) assertAbort {
	return assertAbort{all: s.Flags.Asserts.All, duration: s.Options.Duration, finish: finish}
}
