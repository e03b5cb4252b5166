package bench

import (
	"context"
	"sync/atomic"
	"time"
)

// A pacer is an open-loop schedule: arrival n is due n intervals after the
// start, whatever happened to the arrivals before it.
type pacer struct {
	start    time.Time
	interval float64 // ns
	taken    atomic.Int64
	sent     atomic.Int64 // arrivals that a worker went off with
}

func newPacer(rate float64, start time.Time) *pacer {
	return &pacer{start: start, interval: 1e9 / rate}
}

// next takes the next arrival and waits until it is due. It returns false
// when the run ends first.
func (p *pacer) next(ctx context.Context, end time.Time) (due time.Time, ok bool) {
	n := p.taken.Add(1) - 1
	due = p.start.Add(time.Duration(float64(n) * p.interval))
	// A backlog ends with the run: what was due but not sent is counted there.
	if !end.IsZero() && (!due.Before(end) || !time.Now().Before(end)) {
		return due, false
	}
	if !sleepUntil(ctx, due) {
		return due, false
	}
	p.sent.Add(1)
	return due, true
}

// offered is how many arrivals the schedule had by t.
func (p *pacer) offered(t time.Time) int64 {
	return int64(float64(t.Sub(p.start))/p.interval) + 1
}

// coarse is how much of a wait is left to an exact sleep: the runtime's timers
// may fire up to a millisecond late.
const coarse = 1500 * time.Microsecond

func sleepUntil(ctx context.Context, t time.Time) bool {
	if wait := time.Until(t) - coarse; wait > 0 {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
	for {
		wait := time.Until(t)
		if wait <= 0 {
			return ctx.Err() == nil
		}
		exactSleep(wait)
	}
}
