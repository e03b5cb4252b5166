package bench

import (
	"context"
	"math"
	"sync"
	"time"
)

// A pacer is an open-loop schedule: arrival n is due n intervals after the
// start, whatever happened to the arrivals before it.
type pacer struct {
	start    time.Time
	end      time.Time // zero = open
	interval float64   // ns

	// The lock is held while waiting for the next arrival to be due: one
	// worker watches the clock, and the others queue behind it.
	mu    sync.Mutex
	taken int64 // arrivals that a worker went off with
	alarm *alarm
}

func newPacer(rate float64, start, end time.Time) (*pacer, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	return &pacer{start: start, end: end, interval: 1e9 / rate, alarm: a}, nil
}

// close ends all waiting.
func (p *pacer) close() { p.alarm.close() }

// next waits for the next arrival to be due and takes it. It returns false
// when the run ends first. A backlog ends with the run: what was due but not
// sent is counted there.
func (p *pacer) next(ctx context.Context) (due time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due = p.start.Add(time.Duration(float64(p.taken) * p.interval))
	if !p.end.IsZero() && (!due.Before(p.end) || !time.Now().Before(p.end)) {
		return due, false
	}
	for wait := time.Until(due); wait > 0; wait = time.Until(due) {
		if ctx.Err() != nil || !p.alarm.wait(ctx, wait) {
			return due, false
		}
	}
	if ctx.Err() != nil {
		return due, false
	}
	p.taken++
	return due, true
}

// unsent is how many arrivals were due by t that no worker went off with.
func (p *pacer) unsent(t time.Time) int64 {
	if !p.end.IsZero() && t.After(p.end) {
		t = p.end
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// One arrival is due at the start. The tiny part keeps a whole number of
	// intervals from being rounded up by the last bit of a division.
	due := int64(math.Ceil(float64(t.Sub(p.start))/p.interval - 1e-9))
	return max(0, due-p.taken)
}
