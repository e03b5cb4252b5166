package fleet

import (
	"time"
)

// earliestStart is the first time that all clients can hear of before it has come.
// The lock is held.
func (f *Fleet) earliestStart() time.Time {
	way := time.Duration(0)
	for _, l := range f.links {
		way = max(way, l.last.RoundTrip)
	}
	return time.Now().Add(startLead + 2*way)
}

// watchWindow decides on the window of all clients while they are measured.
func (f *Fleet) watchWindow(done <-chan struct{}) {
	timeout := time.NewTimer(time.Until(f.warmTimeout()))
	defer timeout.Stop()
	for {
		f.mu.Lock()
		f.decideWindow()
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-timeout.C:
		case <-done:
			return
		case <-f.ctx.Done():
			return
		}
	}
}

// warmGrace is how much longer than a client may warm up the coordinator waits
// for the news that it is warm.
const warmGrace = 2 * time.Second

// warmTimeout is when the window begins at the latest. A client that died or was
// cut off must not keep the others from measuring.
func (f *Fleet) warmTimeout() time.Time {
	return f.begun.Add(f.plan.Job.Options.MaxWarmUp() + warmGrace)
}

// decideWindow has the window begin once all clients are warm, or have had the
// time for it, and end once one of them has nothing left to do. The lock is held.
func (f *Fleet) decideWindow() {
	warm, ended := true, false
	for _, l := range f.links {
		if l.lost == nil {
			warm, ended = warm && l.status.Warm, ended || l.status.Ended
		}
	}
	if f.window.End == 0 && ended {
		f.closeWindow(f.earliestEnd())
	}
	if f.window.Begin != 0 || f.window.End != 0 || !warm && time.Now().Before(f.warmTimeout()) {
		return
	}
	at := f.clock.UnixNano(f.earliestStart())
	if d := f.plan.Job.Options.Duration; d > 0 && at >= f.window.Start+int64(d) {
		f.closeWindow(f.window.Start + int64(d)) // it ends before it could begin
		return
	}
	f.window.Begin = at
	for _, l := range f.links {
		l.desired.Begin = l.clockAt(at)
		l.wake()
	}
}

// closeWindow ends the window of all clients. The lock is held.
func (f *Fleet) closeWindow(at int64) {
	f.window.End = at
	for _, l := range f.links {
		l.desired.Close = l.clockAt(at)
		l.wake()
	}
}

// endLead is how much longer than a start the end of the window is announced
// before: a client that learns of it too late is lost.
const endLead = 500 * time.Millisecond

// earliestEnd is the first time at which the window can end. The lock is held.
func (f *Fleet) earliestEnd() int64 { return f.clock.UnixNano(f.earliestStart().Add(endLead)) }

// clockAt is what the client's clock shows at an instant of the coordinator's.
// It goes by the first comparison of the clocks, as the client's log does.
func (l *link) clockAt(at int64) int64 { return at + int64(l.first.Ahead) }
