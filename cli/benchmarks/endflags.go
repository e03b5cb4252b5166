package benchmarks

import (
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench"
)

// endFlags say when a run ends.
type endFlags struct {
	Duration   time.Duration
	warmup     time.Duration
	maxObjects int
	totalSize  int64
	Passes     bool // the operation ends by itself, after --epochs
	forever    bool

	durationFlag *flagtype.Duration
}

func (e *endFlags) flag() cli.Flag {
	e.durationFlag = &flagtype.Duration{Name: "duration", Value: 5 * time.Minute, Destination: &e.Duration,
		Usage: "measure for `TIME`; 0 needs another limit or --forever"}
	return e.durationFlag
}

// LengthOf returns how long a run of a benchmark takes whose command line was parsed and checked, or 0 if its time is
// not limited.
func LengthOf(c *command.Command) time.Duration {
	length, _ := c.Lookup("duration").Get().(time.Duration)
	return length
}

func (e *endFlags) warmupFlag() cli.Flag {
	return &flagtype.Duration{Name: "warmup", Destination: &e.warmup, DefaultText: "until each worker has finished a request",
		Usage: "start the measurement no sooner than `TIME` after the first request"}
}

// checkWarmup refuses a warm-up that leaves nothing to measure.
func (e *endFlags) checkWarmup() error {
	if e.Duration > 0 && e.warmup >= e.Duration {
		return exit.Usagef("--warmup=%s leaves nothing of --duration=%s to measure", human.Duration(e.warmup), human.Duration(e.Duration)).
			WithHint("use a longer --duration or a shorter --warmup")
	}
	return nil
}

func (e *endFlags) foreverFlag() cli.Flag {
	return &cli.BoolFlag{Name: "forever", Destination: &e.forever, Usage: "measure until Ctrl-C"}
}

// writeFlags returns the flags of operations whose requests write objects.
func (e *endFlags) writeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "max-objects", Destination: &e.maxObjects, Validator: flagtype.AtLeast(0),
			Usage: "end the run after writing `N` objects; the default --duration then does not apply"},
		&flagtype.Size{Name: "total-size", Destination: &e.totalSize,
			Usage: "end the run after writing `SIZE` in total; the default --duration then does not apply"},
	}
}

// resolve makes the default of --duration none where something else was given
// that ends the run, and returns an error if the run would not end and --forever is not given.
// itself says that the operation or --autoterm ends it.
func (e *endFlags) resolve(itself, writes bool) error {
	other := e.maxObjects > 0 || e.totalSize > 0 || e.Passes
	if (other || e.forever) && !e.durationFlag.IsSet() {
		e.Duration = 0
	}
	switch {
	case e.forever && e.Duration > 0:
		return exit.Usagef("--forever and --duration=%s cannot be combined", human.Duration(e.Duration))
	case e.forever && other:
		return exit.Usagef("--forever cannot be combined with --max-objects, --total-size and --epochs")
	case e.forever || other || itself || e.Duration > 0:
		return nil
	case writes:
		return exit.Usagef("--duration=0 and nothing else ends the run").WithHint("give --duration, --max-objects or --total-size, or --forever to measure until Ctrl-C")
	}
	return exit.Usagef("--duration=0 and nothing else ends the run").WithHint("give --duration, or --forever to measure until Ctrl-C")
}

func (e *endFlags) apply(o *bench.Options) {
	o.Duration, o.Warmup = e.Duration, e.warmup
	o.MaxObjects, o.TotalSize = int64(e.maxObjects), e.totalSize
}
