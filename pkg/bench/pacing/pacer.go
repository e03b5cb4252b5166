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

// A Pacer is an open-loop schedule: each arrival is due at its time, whatever
// happened to the arrivals before it.
type Pacer struct {
	Max int64         // arrivals in all; 0 = no limit
	Lag *hostload.Lag // of arrivals that a worker was free for; nil = not measured

	// Measured reports whether an arrival that is due then counts in Lag; nil = all do.
	Measured func(due time.Time) bool

	start time.Time
	end   time.Time // zero = open
	rate  rate

	// mu is locked while waiting for the next arrival: one worker watches the
	// clock, and the others queue behind it.
	mu       sync.Mutex
	sequence *sequence // of arrivals that workers have not taken
	alarm    *alarm
}

// A Schedule describes when requests are due.
type Schedule struct {
	Stages []Stage // in this order
	Rate   float64 // arrivals per second after the stages; 0 = none
	Arrivals
}

// Constant returns the schedule with the same rate all the time.
func Constant(rate float64) Schedule { return Schedule{Rate: rate} }

// New returns a pacer that begins at start; a zero end leaves it open.
func New(s Schedule, start, end time.Time) (*Pacer, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	return &Pacer{start: start, end: end, rate: newRate(s.Stages, s.Rate), sequence: newSequence(s.Arrivals), alarm: a}, nil
}

// Close ends all waiting.
func (p *Pacer) Close() { p.alarm.close() }

// Next waits for the next arrival to be due and takes it, for a worker that is
// free since the given time. It returns false when the run ends first. A backlog
// ends with the run: what was due but not sent is counted there.
func (p *Pacer) Next(ctx context.Context, free time.Time) (due time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due = p.due(p.sequence.next)
	if p.Max > 0 && p.sequence.taken >= p.Max {
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
	p.sequence.take()
	if p.Lag != nil && free.Before(due) && (p.Measured == nil || p.Measured(due)) {
		p.Lag.Add(time.Since(due))
	}
	return due, true
}

// latest is when an arrival is due that never is.
const latest = time.Duration(math.MaxInt64)

// due returns when an arrival of the sequence is due.
func (p *Pacer) due(arrival float64) time.Time {
	if ns := math.Round(p.rate.at(arrival) * 1e9); ns < float64(latest) {
		return p.start.Add(time.Duration(ns))
	}
	return p.start.Add(latest)
}

// Unsent are arrivals that no worker has taken.
type Unsent struct {
	Count    int64
	FirstDue time.Time
	Interval float64 // between two of them on average, in ns
}

// Unsent returns the arrivals that were due in that time and that no worker has taken: the last ones, since arrivals
// are taken in order.
func (p *Pacer) Unsent(from, to time.Time) Unsent {
	if !p.end.IsZero() && to.After(p.end) {
		to = p.end
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	first, last, n := p.sequence.rest(p.expected(from), p.expected(to))
	if left := p.Max - p.sequence.taken; p.Max > 0 && n > left {
		last = first + (last-first)*float64(left-1)/float64(n-1)
		n = left
	}
	u := Unsent{Count: n}
	if n > 0 {
		u.FirstDue = p.due(first)
	}
	if n > 1 {
		u.Interval = (p.rate.at(last) - p.rate.at(first)) * 1e9 / float64(n-1)
	}
	return u
}

// expected returns how many arrivals are expected before t.
func (p *Pacer) expected(t time.Time) float64 { return p.rate.before(t.Sub(p.start).Seconds()) }
