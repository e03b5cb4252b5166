package cli

import (
	"time"

	"warp/cli/console"
	"warp/cli/live"
)

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
