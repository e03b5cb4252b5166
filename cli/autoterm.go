package cli

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/cli/live"
	"warp/internal/human"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
)

const (
	autotermLeast  = 15 * time.Second
	autotermWithin = 7.5 // percent
)

// autotermFlags end a run whose throughput has become steady.
type autotermFlags struct {
	on      bool
	least   time.Duration
	percent float64
}

func (f *autotermFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "autoterm", Destination: &f.on, Usage: "end the run as soon as throughput is steady"},
		&flagtype.Duration{Name: "autoterm.dur", Hidden: true, Value: autotermLeast, Destination: &f.least, Validator: autotermValid,
			Usage: "with --autoterm: minimum `TIME` for which throughput must be steady"},
		&cli.FloatFlag{Name: "autoterm.pct", Hidden: true, Value: autotermWithin, Destination: &f.percent, Validator: autotermPercent,
			Usage: "with --autoterm: throughput is steady if the last 7 of 25 samples are within `N` % of the newest"},
	}
}

func autotermValid(d time.Duration) error {
	if d < time.Second {
		return flagtype.Wrong("%s is too short; the minimum is 1s", human.Duration(d))
	}
	return nil
}

func autotermPercent(p float64) error {
	if !(p > 0 && p <= 100) {
		return flagtype.Wrong("%g is not above 0 and up to 100", p)
	}
	return nil
}

// unusedWarning says why the flags change nothing for a run of this duration, and ""
// where they may; 0 is a run without end. It is no error: files of warp run
// have autoterm with all its keys, and switch it by enabled.
func (f *autotermFlags) unusedWarning(duration time.Duration) string {
	earliest := monitor.SteadyAtEarliest(f.least)
	switch {
	case !f.on && (f.least != autotermLeast || f.percent != autotermWithin):
		return "--autoterm.dur and --autoterm.pct change nothing without --autoterm"
	case !f.on || duration == 0 || duration >= earliest:
		return ""
	}
	return fmt.Sprintf("--autoterm will not end this run: with --autoterm.dur=%s it could after %s, and --duration=%s ends it before; use a longer --duration, or a shorter --autoterm.dur",
		human.Duration(f.least), human.Duration(earliest.Round(time.Second)), human.Duration(duration))
}

// An autoterm is a sink that looks at the live figures every second. Rows are
// nothing to it.
type autoterm struct {
	live   func() monitor.Snapshot
	finish func(why string)
	flags  *autotermFlags
	steady monitor.Steadiness
}

func (a *autoterm) Write([]oplog.Record) error { return nil }

// SetWindow forgets the preparation, which says nothing of the run.
func (a *autoterm) SetWindow(w oplog.Window) error {
	if starts(w) {
		a.reset()
	}
	return nil
}

func (a *autoterm) reset() {
	a.steady = monitor.Steadiness{Percent: a.flags.percent, For: a.flags.least}
}

func (a *autoterm) Flush() error {
	snap := a.live()
	a.observe(&snap)
	return nil
}

// observe adds figures, and ends the run where they show that it is steady.
func (a *autoterm) observe(snap *monitor.Snapshot) {
	a.steady.Add(snap, snap.At)
	if why, ok := a.steady.Reached(); ok {
		a.finish(fmt.Sprintf("the throughput was steady %s after the start (%s)", human.Duration(a.steady.Age().Round(time.Second)), why))
	}
}

// autotermLook is how often the figures of a fleet are looked at. They come
// once a second from each client, and count when all of them are here.
const autotermLook = 200 * time.Millisecond

// watchSteadiness ends the measured run of the fleet once its throughput, all
// clients together, has become steady.
func (l *fleetLoad) watchSteadiness() (stop func()) {
	if !l.s.flags.autoterm.on {
		return func() {}
	}
	a := &autoterm{finish: l.fleet.End, flags: &l.s.flags.autoterm}
	a.reset()
	return live.Every(autotermLook, func() {
		if snap, ok := l.fleet.Even(); ok {
			a.observe(&snap)
		}
	})
}
