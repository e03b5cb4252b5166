package session

import "warp/cli/terminal/live"

// progress returns the view of the run's progress.
func (s *Session) progress() *live.View { return s.View(s.Flags.Progress.Interval) }

// Progress shows the progress of a benchmark on the console.
type Progress struct {
	Session *Session
	bar     *live.Bar
}

func (p *Progress) Begin(title string, total int64) {
	p.bar = p.Session.progress().Bar(live.Task{Title: title, Unit: "objects", Total: total})
}

func (p *Progress) Add(n int64)       { p.bar.Add(n) }
func (p *Progress) Moved(bytes int64) { p.bar.Moved(bytes) }

func (p *Progress) End() { p.bar.Finish() }

func (p *Progress) Warn(text string) { p.Session.Warnf("%s", text) }

func (p *Progress) Measuring() (stop func()) {
	endProfiles := p.Session.profile()
	view := p.Session.progress().Run(p.Session.snapshot, p.Session.Options.Duration, p.Session.actions())
	stopPage := p.Session.page.Measuring()
	stopStats := p.Session.stats.Start(p.Session.Flags.Progress.Interval)
	p.Session.plan = p.Session.Flags.Marks.Start(p.Session.marker)
	return func() {
		p.Session.plan.Stop()
		view.Finish()
		stopPage()
		stopStats()
		p.Session.server.Save()
		endProfiles()
	}
}

// actions returns the effects of keys on the run.
func (s *Session) actions() live.Actions {
	return live.Actions{
		Stop: func() { s.finish("the key q was pressed") },
		Mark: func(text string) error {
			_, err := s.marker.Mark(text)
			return err
		},
	}
}
