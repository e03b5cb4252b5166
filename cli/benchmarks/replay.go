package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/cli/session"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/replay"
	"warp/pkg/workload"
)

// A replayRun has what warp replay needs in addition to the flags of a benchmark.
type replayRun struct {
	ctx        context.Context // of reading the log
	warn       func(format string, args ...any)
	log        string
	speed      float64
	load       ops.Replay
	concurrent *cli.IntFlag
}

// replayBenchmark describes warp replay as a benchmark. It is not in the table of operations, because it needs a log.
func replayBenchmark() benchmark { return new(replayRun).benchmark() }

func (r *replayRun) benchmark() benchmark {
	return benchmark{
		name: "replay", summary: "send the requests of an op log again",
		op: &r.load, requests: []string{"GET", "STAT", "PUT", "DELETE", "UPLOAD", "PUTPART", "DOWNLOAD", "GETPART"},
		made: r.made,
		about: []string{
			"Sends the requests of LOG, an op log of warp, at the same times and with the same sizes, but for objects of",
			"its own. The report starts with its fidelity: which requests were sent, and how many of them on time.",
		},
		examples: []string{
			"warp replay friday.csv.zst --host=s3-{1...4}:9000 --access-key=… --secret-key=…",
			"warp replay before.csv.zst --host=embedded --speed=2",
		},
		flags: []cli.Flag{
			&cli.FloatFlag{Name: "speed", Value: 1, Destination: &r.speed, Validator: flagtype.Between(0.001, 1000),
				Usage: "divide the times of the log by `N`; 2 sends its requests in half the time"},
		},
		payload: true, reads: true, oneBucket: true, empties: true, scheduled: true,
		plan: r.describe,
		check: func(f *Flags) error {
			if err := r.read(f); err != nil {
				return err
			}
			if !r.concurrent.IsSet() {
				f.Concurrent = r.workers()
			}
			f.cost.setReplay(r.load.Plan)
			return nil
		},
		adjust: func(o *bench.Options) { o.Times, o.Replay = r.load.Plan, &r.load.Plan.Replay },
	}
}

// Limits of the number of workers unless --concurrent is given.
const (
	minReplayers = 20
	maxReplayers = 1000
)

// workers returns the number of workers: twice as many as the log has, so that a slower store does not delay requests at once.
func (r *replayRun) workers() int {
	n := 2 * float64(r.load.Plan.Threads) * max(r.speed, 1)
	return int(min(max(n, minReplayers), maxReplayers))
}

// made returns the requests that the log has.
func (r *replayRun) made() (names []string) {
	if r.load.Plan == nil {
		return replayBenchmark().requests
	}
	for kind, name := range replay.Names() {
		if r.load.Plan.Counts[kind] == 0 {
			continue
		}
		names = append(names, name)
		switch replay.Kind(kind) {
		case replay.Upload:
			names = append(names, "PUTPART")
		case replay.Download:
			names = append(names, "GETPART")
		}
	}
	return names
}

func (r *replayRun) describe() string {
	p := r.load.Plan
	first, left := "", ""
	if p.Prepared > 0 {
		first = fmt.Sprintf("uploads %s, %s in all, then ", human.Plural(p.Prepared, "object"), human.Bytes(float64(p.Bytes)))
	}
	if n := p.Replay.Requests - p.Count(); n > 0 {
		left = fmt.Sprintf(" (%s cannot be sent)", human.Grouped(n))
	}
	return fmt.Sprintf("%ssends %s %s of %s%s within %s", first, human.Grouped(p.Count()), human.Choose(p.Count(), "request", "requests"), p.Replay.Log, left,
		human.Duration(p.Length.Round(time.Millisecond)))
}

// read plans the replay.
func (r *replayRun) read(f *Flags) (err error) {
	folder := filepath.Dir(runlog.Path(f.Benchdata, "replay", "ID"))
	if f.Stress || f.DryRun != "" {
		folder = os.TempDir()
	}
	r.load.Plan, err = replay.Read(r.ctx, r.log, replay.Options{Speed: r.speed, Folder: folder})
	var path *fs.PathError
	switch {
	case err == nil:
		for _, w := range r.load.Plan.Warnings {
			r.warn("%s", w)
		}
	case errors.Is(err, replay.ErrForeign) && isProfile(r.log):
		return exit.Usagef("%s is a profile, not a log; reproduce its load with `warp mixed --like=%[1]s`", r.log)
	case errors.Is(err, replay.ErrForeign):
		return exit.Usagef("%w", err).WithHint("reproduce its load with `warp workload FILE -o PROFILE.json` and `warp mixed --like=PROFILE.json`")
	case errors.Is(err, replay.ErrNothing):
		return exit.Usagef("%w", err)
	case errors.As(err, &path):
		return exit.Usagef("%s: %w", path.Path, path.Err)
	case err != nil && context.Cause(r.ctx) == nil:
		return exit.Errorf("%w", err)
	}
	return err
}

// isProfile reports whether a file has a profile of warp workload.
func isProfile(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = workload.Read(file)
	return err == nil
}

// Replay returns the command of a benchmark that reads a log. It has no flags that set times, rates and an end, which the log has.
func Replay(env command.Environment) *command.Command {
	r := &replayRun{}
	_, c := benchmarkWithFlags(env, r.benchmark())
	c.Args, c.MinArgs, c.MaxArgs, c.Needs = "LOG", 1, 1, "one op log"
	timed := []string{"rps-limit", "arrival", "stages", "warmup", "duration", "forever", "autoterm", "autoterm.dur", "autoterm.pct"}
	fleet := command.Names((&session.FleetFlags{}).Flags())
	without := slices.Concat(timed, fleet, []string{"confirm"})
	for i, g := range c.Groups {
		c.Groups[i].Flags, c.Groups[i].Also = command.Without(g.Flags, without...), command.Without(g.Also, without...)
	}
	c.Absent = append(c.Absent,
		command.Absent{Names: timed, Why: "is not for replay: the log has the times of all requests, and it ends with the last one"},
		command.Absent{Names: fleet, Why: "is not for replay: requests of one object keep their order, so one process must send them all"},
		command.Absent{Names: []string{"confirm"}, Why: "is not for replay: start it again"},
	)
	r.concurrent = c.Lookup("concurrent").(*cli.IntFlag)
	r.concurrent.DefaultText = "twice the log's"
	c.Check = nil // it cannot be one of several benchmarks, which take no arguments
	run := c.Run
	c.Run = func(ctx context.Context, inv *command.Invocation) error {
		r.ctx, r.log, r.warn = ctx, inv.Args[0], inv.Warnf
		err := run(ctx, inv)
		return exit.Join(err, r.load.Plan.Close())
	}
	return c
}
