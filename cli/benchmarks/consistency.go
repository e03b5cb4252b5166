package benchmarks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/pkg/bench"
	"warp/pkg/consistency"
	"warp/pkg/consistency/workload"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// consistencyFlags are the flags of warp consistency alone.
type consistencyFlags struct{ only, skip, log string }

// consistencyBenchmark describes warp consistency as a benchmark. It is not in the table of operations, because it judges.
func consistencyBenchmark() benchmark {
	b, _ := newConsistency()
	return b
}

func newConsistency() (benchmark, *consistencyFlags) {
	f := &consistencyFlags{}
	load := &workload.Workload{WholeBlocks: workload.DefaultWholeBlocks}
	names := strings.Join(consistency.Properties(), ", ")
	return benchmark{
		name: "consistency", summary: "check that the store keeps its promises under load",
		op: load,
		requests: []string{consistency.Get, consistency.Stat, consistency.Put, consistency.Delete, consistency.List,
			consistency.PutPart, consistency.Complete, consistency.Abort},
		about: []string{
			"Races conditional writes, and reads and lists objects directly after writes. The report says for each property",
			"whether it held or was violated, and shows the requests that prove it. Exit code 4: violated, 5: undecided.",
		},
		examples: []string{
			"warp consistency --host=s3-{1...4}:9000 --access-key=… --secret-key=… --duration=1m",
			"warp consistency --host=embedded --only=create,register --duration=5s",
			"warp consistency --log=warp-consistency-2026-01-31[120000]-Zq3x.csv.zst",
		},
		flags: []cli.Flag{
			&cli.StringFlag{Name: "only", Destination: &f.only, Usage: "check only these `PROPERTIES`: " + names},
			&cli.StringFlag{Name: "skip", Destination: &f.skip, Usage: "check all `PROPERTIES` but these"},
			&cli.StringFlag{Name: "log", Destination: &f.log, TakesFile: true, Usage: "judge the op log `FILE` of an earlier run again, and send nothing"},
		},
		duration: time.Minute, oneBucket: true,
		plan: func() string { return "checks " + strings.Join(load.Properties, ", ") },
		check: func(flags *Flags) (err error) {
			if load.Properties, err = f.properties(); err != nil {
				return err
			}
			return flags.prepareConsistency()
		},
		adjust: func(o *bench.Options) { o.Checks = &oplog.Checks{Properties: load.Properties} },
	}, f
}

// properties returns the properties to check.
func (f *consistencyFlags) properties() ([]string, error) {
	only, err := propertyList("only", f.only)
	if err != nil {
		return nil, err
	}
	skip, err := propertyList("skip", f.skip)
	if err != nil {
		return nil, err
	}
	chosen := slices.DeleteFunc(consistency.Properties(), func(p string) bool {
		return len(only) > 0 && !slices.Contains(only, p) || slices.Contains(skip, p)
	})
	if len(chosen) == 0 {
		return nil, exit.Usagef("--only and --skip leave no property to check")
	}
	return chosen, nil
}

// propertyList parses names with commas between them.
func propertyList(flag, text string) (names []string, err error) {
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case !slices.Contains(consistency.Properties(), name):
			return nil, exit.Usagef("--%s: there is no property %q", flag, name).WithHint("use some of %s", strings.Join(consistency.Properties(), ", "))
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

// prepareConsistency refuses flags that would make the log unfit to judge, and sets the others that the workload needs.
func (f *Flags) prepareConsistency() error {
	var o bench.Options
	f.names.apply(&o)
	switch {
	case f.Stress:
		return exit.Usagef("--stress cannot be combined with consistency, which is judged from the op log")
	case f.retries > 0:
		return exit.Usagef("--retries cannot be combined with consistency: a repeated request proves nothing")
	case o.Layout != generator.Layout{}:
		return exit.Usagef("--noprefix, --putshards and --randomname cannot be combined with consistency, which makes its own folders")
	}
	f.Target.Options.NoRepeat = true
	if !f.MaxErrors.Set { // the store may be busy or dead: only what it breaks counts
		f.MaxErrors = bench.ErrorLimit{Set: true, IsPct: true, Percent: 100}
	}
	return nil
}

func consistencyCommand(env command.Environment) *command.Command {
	b, own := newConsistency()
	f, c := benchmarkWithFlags(env, b)
	check, run := c.Check, c.Run
	c.Check = func(json bool) error {
		if own.log != "" {
			return checkLog(c)
		}
		return check(json)
	}
	c.Run = func(ctx context.Context, inv *command.Invocation) error {
		if own.log == "" {
			return run(ctx, inv)
		}
		if err := checkLog(c); err != nil {
			return err
		}
		return f.judgeLog(ctx, inv, own)
	}
	return c
}

// checkLog refuses flags of a run, which --log does not make. Only flags of the report and of the judgement remain.
func checkLog(c *command.Command) error {
	var asserts reports.AssertFlags
	kept := asserts.Flags(false)
	for _, g := range c.Groups {
		if g.Title == command.AnalysisTitle || g.Title == command.OutputTitle {
			kept = append(kept, g.All()...)
		}
	}
	for _, flag := range c.Flags() {
		name := flag.Names()[0]
		if c.WasGiven(name) && !slices.Contains([]string{"only", "skip", "log"}, name) && command.FindFlag(kept, name) == nil {
			return exit.Usagef("--log and --%s cannot be combined: an earlier run is judged, and no request is sent", name)
		}
	}
	return nil
}

// judgeLog shows the report of an earlier run.
func (f *Flags) judgeLog(ctx context.Context, inv *command.Invocation, own *consistencyFlags) error {
	path := own.log
	properties, err := own.properties()
	if err != nil {
		return err
	}
	if err := exit.First(f.checkAsserts, f.Analysis.CheckOut); err != nil {
		return err
	}
	judged, err := reports.JudgeConsistency(path)
	if err != nil {
		return err
	}
	judged.Properties = slices.DeleteFunc(judged.Properties, func(p results.ConsistencyProperty) bool { return !slices.Contains(properties, p.Property) })
	if len(judged.Properties) == 0 {
		return exit.Errorf("%s: the run checked none of %s", path, strings.Join(properties, ", "))
	}
	r, err := runlog.Analyze(ctx, path, inv.In, f.Analysis.Options())
	if err != nil {
		return err
	}
	r.Consistency = judged
	f.Analysis.Log = path
	return exit.Join(reports.ConsistencyVerdict(judged), reports.Conclude(inv, r, &f.Analysis, &f.Asserts, "consistency"))
}
