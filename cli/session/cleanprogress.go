package session

import (
	"time"

	"warp/cli/command"
	"warp/cli/terminal/console"
	"warp/cli/terminal/live"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/store"
)

// CleanOptions returns the options of a clean-up, which has a marker in the bucket like a run.
func CleanOptions(inv *command.Invocation, client *store.Client, bucket string, concurrency int) lease.Options {
	seed := NewSeed()
	return lease.Options{
		Store: client, Bucket: bucket, Run: NewID() + NewID(), Benchmark: inv.Command.Name, Warp: inv.Version,
		Prefix: generator.ClientPrefix(seed, 0, 0), Seed: seed, Length: time.Minute, Concurrency: concurrency, Progress: &cleanProgress{Console: inv.Console},
	}
}

// A cleanProgress shows the progress of the removal.
type cleanProgress struct {
	*console.Console
	bar *live.Bar
}

func (p *cleanProgress) Begin(title string, total int64) {
	p.bar = p.View(10 * time.Second).Bar(live.Task{Title: title, Unit: "objects", Total: total})
}

func (p *cleanProgress) Add(n int64)      { p.bar.Add(n) }
func (p *cleanProgress) End()             { p.bar.Finish() }
func (p *cleanProgress) Warn(text string) { p.Warnf("%s", text) }
