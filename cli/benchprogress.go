package cli

import (
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
)

// benchProgress shows on the console how a benchmark comes along.
type benchProgress struct {
	s   *session
	bar *bar
}

func (s *session) benchProgress() bench.Progress { return &benchProgress{s: s} }

func (p *benchProgress) Begin(title string, total int64) {
	p.bar = p.s.startBar(title, "objects", total, p.s.flags.progress.interval)
}

func (p *benchProgress) Add(n int64) { p.bar.add(n) }

func (p *benchProgress) End() { p.bar.finish() }

func (p *benchProgress) Warn(text string) { p.s.warnf("%s", text) }

func (p *benchProgress) Measuring() (stop func()) {
	endProfiles := p.s.profile()
	live := p.s.startLive(p.s.snapshot, p.s.opts.Duration, p.s.flags.progress.interval)
	stopStats := p.s.stats.begin(p.s.flags.progress.interval)
	return func() {
		live.finish()
		stopStats()
		p.s.saveServerProfiles()
		endProfiles()
	}
}

// snapshot is what the live view shows of the operations.
func (s *session) snapshot() aggregate.LiveSnapshot {
	if s.fleet != nil {
		return s.fleet.Snapshot()
	}
	return s.live.Snapshot(time.Now().UnixNano())
}
