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

	// mu is locked while waiting for the next arrival: one worker watches the
	// clock, and the others queue behind it.
	mu    sync.Mutex
	times timetable // of arrivals that workers have not taken
	err   error     // of the timetable
	alarm *alarm
}

// A Schedule describes when requests are due.
type Schedule struct {
	Times  Times   // nil = they follow from the other fields
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
	p := &Pacer{start: start, end: end, alarm: a}
	if s.Times != nil {
		p.times, p.Max = &listed{Times: s.Times}, s.Times.Count()
	} else {
		r := newRate(s.Stages, s.Rate)
		p.times = &calculated{r, newSequence(s.Arrivals, r.ends())}
	}
	return p, nil
}

// Close ends all waiting.
func (p *Pacer) Close() { p.alarm.close() }

// An Arrival is a request that is due.
type Arrival struct {
	Number int64 // from 0
	Due    time.Time
}

// Next waits for the next arrival to be due and takes it, for a worker that is
// free since the given time. It returns false when the run ends first. A backlog
// ends with the run: requests that were due but not sent are counted there.
func (p *Pacer) Next(ctx context.Context, free time.Time) (a Arrival, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, ok = p.upcoming(); !ok {
		return a, false
	}
	due := a.Due
	if !p.end.IsZero() && !due.Before(p.end) {
		// The run lasts until its deadline, though nothing is due any more.
		for wait := time.Until(p.end); wait > 0 && ctx.Err() == nil && p.alarm.wait(ctx, wait); {
			wait = time.Until(p.end)
		}
		return a, false
	}
	if !p.end.IsZero() && !time.Now().Before(p.end) {
		return a, false
	}
	for wait := time.Until(due); wait > 0; wait = time.Until(due) {
		if ctx.Err() != nil || !p.alarm.wait(ctx, wait) {
			return a, false
		}
	}
	if ctx.Err() != nil {
		return a, false
	}
	p.times.take()
	if p.Lag != nil && free.Before(due) && (p.Measured == nil || p.Measured(due)) {
		p.Lag.Add(time.Since(due))
	}
	return a, true
}

// upcoming returns the next arrival. It returns false if there is none, or if its time is not known.
func (p *Pacer) upcoming() (a Arrival, ok bool) {
	a.Number = p.times.taken()
	if p.err != nil || p.Max > 0 && a.Number >= p.Max {
		return a, false
	}
	after, err := p.times.next()
	if err != nil {
		p.err = err
		return a, false
	}
	a.Due = p.start.Add(after)
	return a, true
}

// Done reports whether all Max arrivals were taken.
func (p *Pacer) Done() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Max > 0 && p.times.taken() >= p.Max
}

// Err returns the error that has ended the arrivals early.
func (p *Pacer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
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
	left := int64(math.MaxInt64)
	if p.Max > 0 {
		left = p.Max - p.times.taken()
	}
	first, last, n, err := p.times.rest(from.Sub(p.start), to.Sub(p.start), left)
	if err != nil {
		p.err = err
		return Unsent{}
	}
	u := Unsent{Count: n}
	if n > 0 {
		u.FirstDue = p.start.Add(first)
	}
	if n > 1 {
		u.Interval = float64(last-first) / float64(n-1)
	}
	return u
}
