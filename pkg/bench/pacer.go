package bench

import (
	"context"
	"math"
	"sync"
	"time"

	"warp/pkg/hostload"
)

// A pacer is an open-loop schedule: arrival n is due n intervals after the
// start, whatever happened to the arrivals before it.
type pacer struct {
	start    time.Time
	end      time.Time // zero = open
	interval float64   // ns
	warmup   float64   // ns in which the rate rises from 0 to the full one; 0 = it is full at once
	max      int64     // arrivals in all; 0 = no limit

	// mu is held while waiting for the next arrival: one worker watches the
	// clock, and the others queue behind it.
	mu    sync.Mutex
	taken int64 // arrivals that workers have taken
	alarm *alarm
	lag   *hostload.Lag // of arrivals that a worker waited for; nil = not measured
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
	idle := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	due = p.start.Add(p.at(p.taken))
	if p.max > 0 && p.taken >= p.max {
		return due, false
	}
	if !p.end.IsZero() && !due.Before(p.end) {
		// The run lasts until its deadline, though nothing is due any more.
		for wait := time.Until(p.end); wait > 0 && ctx.Err() == nil && p.alarm.wait(ctx, wait); {
			wait = time.Until(p.end)
		}
		return due, false
	}
	if !p.end.IsZero() && !time.Now().Before(p.end) {
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
	if p.lag != nil && idle.Before(due) {
		p.lag.Add(time.Since(due))
	}
	return due, true
}

// ramp returns how many arrivals are due while the rate rises: half as many as at
// the full rate.
func (p *pacer) ramp() float64 { return p.warmup / p.interval / 2 }

// at returns when arrival k is due, from the start. The rate rises linearly, so
// the number of arrivals grows with the square of the time.
func (p *pacer) at(k int64) time.Duration {
	n := float64(k)
	if n < p.ramp() {
		return time.Duration(math.Sqrt(2 * p.warmup * n * p.interval))
	}
	return time.Duration(p.warmup + (n-p.ramp())*p.interval)
}

// before returns how many arrivals are due before t. It is the inverse of at.
func (p *pacer) before(t time.Duration) float64 {
	ns := max(float64(t), 0) // the start may be in the future
	if ns < p.warmup {
		return ns * ns / (2 * p.warmup * p.interval)
	}
	return p.ramp() + (ns-p.warmup)/p.interval
}

// dueBefore is how many arrivals are due before t.
func (p *pacer) dueBefore(t time.Time) int64 {
	// One arrival is due at the start. The tiny part keeps a whole number of
	// intervals from being rounded up by the last bit of a division.
	due := int64(math.Ceil(p.before(t.Sub(p.start)) - 1e-9))
	if p.max > 0 {
		due = min(due, p.max)
	}
	return due
}

// unsent returns how many arrivals that were due in that time no worker has taken,
// and the number of the first. They are the last ones, since arrivals are taken in
// order.
func (p *pacer) unsent(from, to time.Time) (first, n int64) {
	if !p.end.IsZero() && to.After(p.end) {
		to = p.end
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	first = max(p.taken, p.dueBefore(from))
	return first, max(0, p.dueBefore(to)-first)
}
