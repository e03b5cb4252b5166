package session

import (
	"time"

	"warp/cli/terminal/console"
	"warp/cli/terminal/live"
)

// A CleanProgress shows the progress of the removal.
type CleanProgress struct {
	*console.Console
	bar *live.Bar
}

func (p *CleanProgress) Begin(title string, total int64) {
	p.bar = p.View(10 * time.Second).Bar(live.Task{Title: title, Unit: "objects", Total: total})
}

func (p *CleanProgress) Add(n int64)      { p.bar.Add(n) }
func (p *CleanProgress) End()             { p.bar.Finish() }
func (p *CleanProgress) Warn(text string) { p.Warnf("%s", text) }
