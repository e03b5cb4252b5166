package pacing

import (
	"math"
	"sort"
	"time"
)

// A timetable has the arrivals of one client in their order. Its times count from the start.
type timetable interface {
	// next returns when the next arrival is due; latest if there is none.
	next() (time.Duration, error)
	// take moves on to the arrival after it.
	take()
	// taken returns the number of arrivals before the next one.
	taken() int64
	// rest returns the arrivals that were not taken and that are due in that time, no more than max: when the first and the
	// last one are due, and their number.
	rest(from, to time.Duration, max int64) (first, last time.Duration, n int64, err error)
}

// latest is when an arrival is due that never is.
const latest = time.Duration(math.MaxInt64)

// A calculated timetable follows from a rate and from how arrivals are spread.
type calculated struct {
	rate     rate
	sequence *sequence
}

func (c *calculated) next() (time.Duration, error) { return c.due(c.sequence.next), nil }
func (c *calculated) take()                        { c.sequence.take() }
func (c *calculated) taken() int64                 { return c.sequence.taken }

func (c *calculated) rest(from, to time.Duration, limit int64) (first, last time.Duration, n int64, err error) {
	a, b, n := c.sequence.rest(c.rate.before(from.Seconds()), c.rate.before(to.Seconds()))
	if n > limit {
		b = a + (b-a)*float64(limit-1)/float64(n-1)
		n = limit
	}
	return c.due(a), c.due(b), n, nil
}

// due returns when an arrival of the sequence is due.
func (c *calculated) due(arrival float64) time.Duration {
	if ns := math.Round(c.rate.at(arrival) * 1e9); ns < float64(latest) {
		return time.Duration(ns)
	}
	return latest
}

// Times are arrivals that are known beforehand, such as the arrivals of an op log.
type Times interface {
	Count() int64
	// Due returns when arrival n, from 0, is due after the start. It is not before the arrival n-1.
	Due(n int64) (time.Duration, error)
}

// A listed timetable has known times.
type listed struct {
	Times
	n int64
}

func (l *listed) next() (time.Duration, error) {
	if l.n >= l.Count() {
		return latest, nil
	}
	return l.Due(l.n)
}

func (l *listed) take()        { l.n++ }
func (l *listed) taken() int64 { return l.n }

func (l *listed) rest(from, to time.Duration, limit int64) (first, last time.Duration, n int64, err error) {
	before := func(at time.Duration) int64 { // arrivals that were not taken and are due before
		return int64(sort.Search(int(l.Count()-l.n), func(i int) bool {
			due, dueErr := l.Due(l.n + int64(i))
			if dueErr != nil {
				err = dueErr
			}
			return due >= at
		}))
	}
	skip := before(from)
	if n = min(before(to)-skip, limit); n <= 0 || err != nil {
		return 0, 0, 0, err
	}
	if first, err = l.Due(l.n + skip); err == nil {
		last, err = l.Due(l.n + skip + n - 1)
	}
	return first, last, n, err
}
