package cli

import (
	"time"

	"github.com/urfave/cli/v3"

	"warp/pkg/bench"
)

// endFlags say when a run ends.
type endFlags struct {
	duration   time.Duration
	warmup     time.Duration
	maxObjects int
	totalSize  int64
	skipList   bool
	passes     bool // the operation ends by itself, after --epochs

	durationFlag *durationFlag
}

func (e *endFlags) flag() cli.Flag {
	e.durationFlag = &durationFlag{Name: "duration", Value: 5 * time.Minute, Destination: &e.duration, Usage: "`TIME` to measure for; 0 is until Ctrl-C"}
	return e.durationFlag
}

func (e *endFlags) warmupFlag() cli.Flag {
	return &durationFlag{Name: "warmup", Destination: &e.warmup, DefaultText: "until each worker has finished a request",
		Usage: "begin to measure `TIME` after the start, or later"}
}

// check refuses a warm-up that leaves nothing to measure.
func (e *endFlags) check() error {
	if e.duration > 0 && e.warmup >= e.duration {
		return usageError("--warmup=%s leaves nothing of --duration=%s to measure", shortDuration(e.warmup), shortDuration(e.duration)).
			tell("use a longer --duration or a shorter --warmup")
	}
	return nil
}

// writeFlags are those of operations whose requests write objects.
func (e *endFlags) writeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "max-objects", Aliases: []string{"maxputs"}, Destination: &e.maxObjects, Validator: atLeast(0),
			Usage: "end the run when `N` objects are written; without --duration nothing else ends it"},
		&sizeFlag{Name: "total-size", Aliases: []string{"totalputsize"}, Destination: &e.totalSize,
			Usage: "end the run when objects of `SIZE` in all are written; without --duration nothing else ends it"},
		&cli.BoolFlag{Name: "skiplist", Destination: &e.skipList, Hidden: true,
			Usage: "accepted for scripts that have it; no run lists a bucket's objects before it uploads"},
	}
}

// settle makes the default of --duration none where something else was given
// that ends the run.
func (e *endFlags) settle() {
	if (e.maxObjects > 0 || e.totalSize > 0 || e.passes) && !e.durationFlag.IsSet() {
		e.duration = 0
	}
}

func (e *endFlags) apply(o *bench.Options) {
	o.Duration, o.Warmup = e.duration, e.warmup
	o.MaxObjects, o.TotalSize = int64(e.maxObjects), e.totalSize
}
