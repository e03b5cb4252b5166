package cli

import (
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/oplog"
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

func (s *session) assertAbort() *assertAbort {
	return &assertAbort{summary: s.summary, all: s.flags.asserts.all, duration: s.opts.Duration, finish: s.runner.Finish}
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
	for _, assertion := range a.all {
		if why := assert.Hopeless(assertion, report, left); why != "" {
			a.finish(why)
			return nil
		}
	}
	return nil
}
