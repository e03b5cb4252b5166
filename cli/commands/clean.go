package commands

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/session"
	"warp/cli/target"
	"warp/internal/human"
	"warp/pkg/lease"
	"warp/pkg/store"
)

// cleanFlags select the runs to clean up.
type cleanFlags struct {
	target    target.Flags
	run, seed string
	dryRun    bool
}

// A cleanResult is the JSON document of clean.
type cleanResult struct {
	Bucket string     `json:"bucket"`
	DryRun bool       `json:"dry_run"`
	Runs   []cleanRun `json:"runs"`
}

type cleanRun struct {
	Bucket    string   `json:"bucket"`
	Run       string   `json:"run"`
	Benchmark string   `json:"benchmark"`
	Seed      uint64   `json:"seed,string"`
	Prefix    string   `json:"prefix"`
	State     string   `json:"state"`
	Chosen    bool     `json:"chosen"`
	Objects   int64    `json:"objects"`
	WaitS     float64  `json:"wait_s"`
	Keys      []string `json:"keys,omitempty"`
}

func cleanCommand(env command.Environment) *command.Command {
	f := &cleanFlags{}
	c := &command.Command{}
	f.target.Given = c.WasGiven
	*c = command.Command{
		Name: "clean", Section: command.SectionOther,
		Summary: "remove leftovers of runs from a bucket",
		About: []string{
			"Removes objects, unfinished uploads and markers of killed runs of warp. With --run or --seed, also",
			"of a run that ended and kept its objects. Never touches other objects or live runs.",
		},
		Examples: []string{"warp clean --host=s3:9000 --access-key=… --secret-key=… --bucket=demo --dry-run"},
		Groups: []command.Group{
			{Title: "Runs", Flags: []cli.Flag{
				&cli.StringFlag{Name: "run", Destination: &f.run, Usage: "only the run with this `ID`; see its log or clean --dry-run"},
				&cli.StringFlag{Name: "seed", Destination: &f.seed, Usage: "only runs with this seed `NUMBER`"},
				&cli.BoolFlag{Name: "dry-run", Destination: &f.dryRun, Usage: "remove nothing, only list what would be removed"},
			}},
			f.target.Group(env),
			{Title: target.TrafficTitle, Also: f.target.ConnectionFlags(env)},
		},
		Run: func(ctx context.Context, inv *command.Invocation) error { return f.clean(ctx, inv) },
	}
	return c
}

func (f *cleanFlags) clean(ctx context.Context, inv *command.Invocation) error {
	chosen, err := f.selection()
	if err != nil {
		return err
	}
	result := &cleanResult{Bucket: f.target.BucketList(), DryRun: f.dryRun, Runs: []cleanRun{}}
	target, err := f.target.Open(ctx, inv, cleanConcurrency, func(error) {})
	if err != nil {
		return err
	}
	defer target.Close()
	for _, bucket := range f.target.Buckets {
		failed := f.cleanBucket(ctx, inv, target, bucket, chosen, result)
		if failed != nil && err != nil {
			inv.Console.Warnf("%v", err)
		}
		if failed != nil {
			err = failed
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err != nil && len(result.Runs) == 0 {
		return f.target.ExplainOpen(ctx, err)
	}
	if err == nil && len(result.Runs) == 0 && (f.run != "" || f.seed != "") {
		return f.missed(result)
	}
	inv.Hide.Strings(result)
	if shown := inv.Document(result, result.show); err == nil {
		err = shown
	}
	if err != nil {
		return f.target.Explain(err)
	}
	return f.missed(result)
}

// cleanBucket cleans up one bucket, and adds its runs to the result.
func (f *cleanFlags) cleanBucket(ctx context.Context, inv *command.Invocation, target *target.Target, bucket string, chosen lease.Selection, result *cleanResult) error {
	keys := make(map[string][]string)
	chosen.Would = func(run string, o store.Object) { keys[run] = append(keys[run], o.Key) }
	stop := f.target.NoteSilence(inv.Console, target.Client)
	left, err := lease.Clean(ctx, session.CleanOptions(inv, target.Client, bucket, cleanConcurrency), chosen)
	stop()
	for _, run := range left {
		result.add(bucket, run, keys[run.Run])
	}
	return err
}

// cleanConcurrency is the number of concurrent deletions.
const cleanConcurrency = 16

func (f *cleanFlags) selection() (lease.Selection, error) {
	s := lease.Selection{Run: f.run, DryRun: f.dryRun}
	if err := f.target.Check(); err != nil {
		return s, err
	}
	if f.target.Host == target.EmbeddedHost {
		return s, exit.Usagef("the embedded store starts empty, so there is nothing to clean up").WithHint("name a store with --host")
	}
	if f.seed == "" {
		return s, nil
	}
	seed, err := session.ParseSeed(f.seed)
	s.Seed = &seed
	return s, err
}

// missed returns an error if the run given by --run or --seed was not found, or not
// removed.
func (f *cleanFlags) missed(r *cleanResult) error {
	if f.run == "" && f.seed == "" {
		return nil
	}
	if len(r.Runs) == 0 {
		return exit.Errorf("bucket %s has no marker of such a run, so nothing was removed", r.Bucket).WithHint("warp clean --dry-run lists the runs")
	}
	for _, run := range r.Runs {
		if !run.Chosen {
			return exit.Errorf("run %s may be alive, so none of its objects were removed", run.Run).
				WithHint("end it, or try again in %s if it is dead", human.Brief(time.Duration(run.WaitS*float64(time.Second))))
		}
	}
	return nil
}

func (r *cleanResult) add(bucket string, run lease.LeftRun, keys []string) {
	r.Runs = append(r.Runs, cleanRun{
		Bucket: bucket, Run: run.Run, Benchmark: run.Benchmark, Seed: run.Seed, Prefix: run.Prefix, State: run.State,
		Chosen: run.Chosen, Objects: run.Objects, WaitS: human.Thousandths(run.Wait.Seconds()), Keys: keys,
	})
}

func (r *cleanResult) show(w io.Writer) error {
	if len(r.Runs) == 0 {
		_, err := fmt.Fprintf(w, "Bucket %s has nothing that a run of warp left.\n", r.Bucket)
		return err
	}
	for _, run := range r.Runs {
		under := run.Prefix
		if run.Bucket != r.Bucket {
			under = run.Bucket + "/" + run.Prefix
		}
		if _, err := fmt.Fprintf(w, "run %s (%s, seed %d) under %s: %s\n", run.Run, run.Benchmark, run.Seed, under, run.fate(r.DryRun)); err != nil {
			return err
		}
		for _, key := range run.Keys {
			if _, err := fmt.Fprintln(w, "  "+key); err != nil {
				return err
			}
		}
	}
	return nil
}

// fate describes what happens to a run.
func (c *cleanRun) fate(dryRun bool) string {
	switch {
	case c.Chosen && dryRun:
		return fmt.Sprintf("%s, %s would be removed", c.State, human.Plural(c.Objects, "object"))
	case c.Chosen:
		return fmt.Sprintf("%s, %s removed", c.State, human.Plural(c.Objects, "object"))
	case c.State == lease.RunKept:
		return fmt.Sprintf("kept on purpose; --run=%s removes it", c.Run)
	}
	return fmt.Sprintf("may be alive and stays; if it is not, it counts as dead in %s", human.Brief(time.Duration(c.WaitS*float64(time.Second))))
}
