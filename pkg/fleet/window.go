package fleet

import (
	"time"
)

// earliestStart returns the earliest time that can be announced to all clients
// in advance. The caller holds the lock.
func (f *Fleet) earliestStart() time.Time {
	way := time.Duration(0)
	for _, l := range f.links {
		way = max(way, l.last.RoundTrip)
	}
	return time.Now().Add(startLead + 2*way)
}

// watchWindow decides on the window of all clients during the measurement.
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

// warmGrace is how long the coordinator waits for a client's report beyond the
// maximum warm-up.
const warmGrace = 2 * time.Second

// warmTimeout returns the latest start of the window. A client that died or was
// disconnected must not keep the others from measuring.
func (f *Fleet) warmTimeout() time.Time {
	return f.begun.Add(f.plan.Job.Options.MaxWarmUp() + warmGrace)
}

// decideWindow begins the window once all clients are warm or out of time, and
// ends it once one client has nothing left to do. The caller holds the lock.
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
		f.closeWindow(f.window.Start + int64(d)) // the run ends before the window begins
		return
	}
	f.window.Begin = at
	for _, l := range f.links {
		l.desired.Begin = l.clockAt(at)
		l.wake()
	}
}

// closeWindow ends the window of all clients. The caller holds the lock.
func (f *Fleet) closeWindow(at int64) {
	f.window.End = at
	for _, l := range f.links {
		l.desired.Close = l.clockAt(at)
		l.wake()
	}
}

// endLead is how much earlier than a start the end of the window is announced:
// a client that receives it too late is lost.
const endLead = 500 * time.Millisecond

// earliestEnd returns the earliest possible end of the window. The caller holds
// the lock.
func (f *Fleet) earliestEnd() int64 { return f.clock.UnixNano(f.earliestStart().Add(endLead)) }

// clockAt converts an instant of the coordinator's clock to the client's clock.
// It uses the first comparison of the clocks, as the client's log does.
func (l *link) clockAt(at int64) int64 { return at + int64(l.first.Ahead) }
