// Package pacing has the arrivals of an open loop: when each request is due, which
// worker takes it, and how many nobody has taken.
package pacing

import (
	"context"
	"math"
	"sync"
	"time"

	"warp/pkg/hostload"
)

// A Pacer is an open-loop schedule: arrival n is due n intervals after the
// start, whatever happened to the arrivals before it.
type Pacer struct {
	Warmup time.Duration // in which the rate rises from 0 to the full one; 0 = it is full at once
	Max    int64         // arrivals in all; 0 = no limit
	Lag    *hostload.Lag // of arrivals that a worker waited for; nil = not measured

	// Measured reports whether an arrival that is due then counts in Lag; nil = all do.
	Measured func(due time.Time) bool

	start    time.Time
	end      time.Time // zero = open
	interval float64   // ns

	// mu is locked while waiting for the next arrival: one worker watches the
	// clock, and the others queue behind it.
	mu    sync.Mutex
	taken int64 // arrivals that workers have taken
	alarm *alarm
}

// New returns a schedule of rate arrivals per second; a zero end leaves it open.
func New(rate float64, start, end time.Time) (*Pacer, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	return &Pacer{start: start, end: end, interval: 1e9 / rate, alarm: a}, nil
}

// Close ends all waiting.
func (p *Pacer) Close() { p.alarm.close() }

// Next waits for the next arrival to be due and takes it. It returns false
// when the run ends first. A backlog ends with the run: what was due but not
// sent is counted there.
func (p *Pacer) Next(ctx context.Context) (due time.Time, ok bool) {
	idle := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	due = p.Due(p.taken)
	if p.Max > 0 && p.taken >= p.Max {
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
	if p.Lag != nil && idle.Before(due) && (p.Measured == nil || p.Measured(due)) {
		p.Lag.Add(time.Since(due))
	}
	return due, true
}

// Interval is the time between two arrivals at the full rate, in ns.
func (p *Pacer) Interval() float64 { return p.interval }

// Due returns when arrival k is due.
func (p *Pacer) Due(k int64) time.Time { return p.start.Add(p.at(k)) }

// ramp returns how many arrivals are due while the rate rises: half as many as at
// the full rate.
func (p *Pacer) ramp() float64 { return float64(p.Warmup) / p.interval / 2 }

// at returns when arrival k is due, from the start. The rate rises linearly, so
// the number of arrivals grows with the square of the time.
func (p *Pacer) at(k int64) time.Duration {
	n := float64(k)
	if n < p.ramp() {
		return time.Duration(math.Sqrt(2 * float64(p.Warmup) * n * p.interval))
	}
	return time.Duration(float64(p.Warmup) + (n-p.ramp())*p.interval)
}

// before returns how many arrivals are due before t. It is the inverse of at.
func (p *Pacer) before(t time.Duration) float64 {
	ns := max(float64(t), 0) // the start may be in the future
	if ns < float64(p.Warmup) {
		return ns * ns / (2 * float64(p.Warmup) * p.interval)
	}
	return p.ramp() + (ns-float64(p.Warmup))/p.interval
}

// dueBefore is how many arrivals are due before t.
func (p *Pacer) dueBefore(t time.Time) int64 {
	// One arrival is due at the start. The tiny part keeps a whole number of
	// intervals from being rounded up by the last bit of a division.
	due := int64(math.Ceil(p.before(t.Sub(p.start)) - 1e-9))
	if p.Max > 0 {
		due = min(due, p.Max)
	}
	return due
}

// Unsent returns how many arrivals that were due in that time no worker has taken,
// and the number of the first. They are the last ones, since arrivals are taken in
// order.
func (p *Pacer) Unsent(from, to time.Time) (first, n int64) {
	if !p.end.IsZero() && to.After(p.end) {
		to = p.end
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	first = max(p.taken, p.dueBefore(from))
	return first, max(0, p.dueBefore(to)-first)
}
