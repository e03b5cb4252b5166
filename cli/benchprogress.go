package cli

import "warp/cli/live"

// progress returns the view of the run's progress.
func (s *session) progress() *live.View { return s.View(s.flags.progress.interval) }

// benchProgress shows the progress of a benchmark on the console.
type benchProgress struct {
	s   *session
	bar *live.Bar
}

func (p *benchProgress) Begin(title string, total int64) {
	p.bar = p.s.progress().Bar(live.Task{Title: title, Unit: "objects", Total: total})
}

func (p *benchProgress) Add(n int64)       { p.bar.Add(n) }
func (p *benchProgress) Moved(bytes int64) { p.bar.Moved(bytes) }

func (p *benchProgress) End() { p.bar.Finish() }

func (p *benchProgress) Warn(text string) { p.s.Warnf("%s", text) }

func (p *benchProgress) Measuring() (stop func()) {
	endProfiles := p.s.profile()
	view := p.s.progress().Run(p.s.snapshot, p.s.opts.Duration, p.s.actions())
	stopPage := p.s.page.Measuring()
	stopStats := p.s.stats.Start(p.s.flags.progress.interval)
	p.s.plan = p.s.flags.marks.Start(p.s.marker)
	return func() {
		p.s.plan.Stop()
		view.Finish()
		stopPage()
		stopStats()
		p.s.server.Save()
		endProfiles()
	}
}

// actions returns the effects of keys on the run.
func (s *session) actions() live.Actions {
	return live.Actions{
		Stop: func() { s.load.finish("the key q was pressed") },
		Mark: func(text string) error {
			_, err := s.marker.Mark(text)
			return err
		},
	}
}
