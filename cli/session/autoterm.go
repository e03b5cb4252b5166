package session

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
)

const (
	defaultDuration = 15 * time.Second
	defaultPercent  = 7.5 // percent
)

// AutotermFlags are --autoterm and what belongs to it.
type AutotermFlags struct {
	On      bool
	min     time.Duration
	percent float64
}

// AutotermFlags returns the flags.
func (f *AutotermFlags) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "autoterm", Destination: &f.On, Usage: "end the run as soon as throughput is steady"},
		&flagtype.Duration{Name: "autoterm.dur", Hidden: true, Value: defaultDuration, Destination: &f.min, Validator: flagtype.Takes(time.Second),
			Usage: "with --autoterm: minimum `TIME` for which throughput must be steady"},
		&cli.FloatFlag{Name: "autoterm.pct", Hidden: true, Value: defaultPercent, Destination: &f.percent, Validator: percentValid,
			Usage: "with --autoterm: throughput is steady if the last 7 of 25 samples are within `N` % of the newest"},
	}
}

func percentValid(p float64) error {
	if !(p > 0 && p <= 100) {
		return flagtype.Wrong("%g is not above 0 and up to 100", p)
	}
	return nil
}

// UnusedWarning returns why the flags have no effect on a run with this duration (0 =
// unlimited), "" if they may have one. It is not an error: files of warp run
// have autoterm with all its keys, and enable it by another key.
func (f *AutotermFlags) UnusedWarning(duration time.Duration) string {
	earliest := monitor.SteadyAtEarliest(f.min)
	switch {
	case !f.On && (f.min != defaultDuration || f.percent != defaultPercent):
		return "--autoterm.dur and --autoterm.pct change nothing without --autoterm"
	case !f.On || duration == 0 || duration >= earliest:
		return ""
	}
	return fmt.Sprintf("--autoterm will not end this run: with --autoterm.dur=%s it could after %s, and --duration=%s ends it before; use a longer --duration, or a shorter --autoterm.dur",
		human.Duration(f.min), human.Duration(earliest.Round(time.Second)), human.Duration(duration))
}

// A autotermSink checks the live figures whenever the collector flushes. It ignores the rows.
type autotermSink struct {
	live   func() monitor.Snapshot
	finish func(why string)
	flags  *AutotermFlags
	steady monitor.Steadiness
}

// newAutoterm returns a sink that calls finish once the figures of live are steady. live
// may be nil if the caller calls Observe.
func newAutoterm(flags *AutotermFlags, live func() monitor.Snapshot, finish func(why string)) *autotermSink {
	a := &autotermSink{live: live, finish: finish, flags: flags}
	a.reset()
	return a
}

func (a *autotermSink) Write([]oplog.Record) error { return nil }

// SetWindow forgets the preparation.
func (a *autotermSink) SetWindow(w oplog.Window) error {
	if w.Begin == 0 && w.End == 0 {
		a.reset()
	}
	return nil
}

func (a *autotermSink) reset() {
	a.steady = monitor.Steadiness{Percent: a.flags.percent, For: a.flags.min}
}

func (a *autotermSink) Flush() error {
	snap := a.live()
	a.Observe(&snap)
	return nil
}

// Observe adds figures, and ends the run if they show that it is steady.
func (a *autotermSink) Observe(snap *monitor.Snapshot) {
	a.steady.Add(snap, snap.At)
	if why, ok := a.steady.Reached(); ok {
		a.finish(fmt.Sprintf("the throughput was steady %s after the start (%s)", human.Duration(a.steady.Age().Round(time.Second)), why))
	}
}
