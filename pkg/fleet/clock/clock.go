// Package clock measures time on the machines of a fleet, and how far their
// clocks differ.
package clock

import (
	"fmt"
	"time"
)

// A Clock returns the time of day in Unix nanoseconds by the monotonic clock:
// setting the system's clock during a run does not change it.
type Clock struct {
	at   time.Time
	base int64
}

// New returns a clock that begins with the system's time, moved by skew.
func New(skew time.Duration) Clock {
	now := time.Now()
	return Clock{now, now.UnixNano() + int64(skew)}
}

// Now returns the time.
func (c Clock) Now() int64 { return c.UnixNano(time.Now()) }

// UnixNano returns the clock's time at t.
func (c Clock) UnixNano(t time.Time) int64 { return c.base + int64(t.Sub(c.at)) }

// Time returns the moment, with its monotonic reading, at which the clock shows
// ns.
func (c Clock) Time(ns int64) time.Time { return c.at.Add(time.Duration(ns - c.base)) }

// Elapsed returns the time since the clock was made.
func (c Clock) Elapsed() time.Duration { return time.Since(c.at) }

const (
	// Samples is how many samples measure an [Offset]. The sample with the
	// shortest round trip counts, because the delays of the others were most
	// likely asymmetric.
	Samples = 16
	// MaxSkew is the maximum difference between a client's clock and the
	// coordinator's.
	MaxSkew = time.Second
)

// An Offset is how far a client's clock is ahead of the coordinator's.
type Offset struct {
	Ahead     time.Duration
	RoundTrip time.Duration // of the best sample; Ahead is off by at most half of it
	Samples   int
}

// Sample computes an offset from the four times of NTP: sent and received by the
// coordinator's clock, arrived and answered by the client's.
func Sample(sent, arrived, answered, received int64) Offset {
	return Offset{
		Ahead:     time.Duration((arrived-sent)+(answered-received)).Round(2) / 2,
		RoundTrip: time.Duration((received - sent) - (answered - arrived)),
	}
}

// Add keeps the better of two samples.
func (o *Offset) Add(s Offset) {
	n := o.Samples + 1
	if o.Samples == 0 || s.RoundTrip < o.RoundTrip {
		*o = s
	}
	o.Samples = n
}

// Complete reports whether enough samples were taken.
func (o Offset) Complete() bool { return o.Samples >= Samples }

// TooFar reports whether the clocks certainly differ by more than [MaxSkew].
func (o Offset) TooFar() bool { return o.Ahead.Abs()-o.RoundTrip/2 > MaxSkew }

func (o Offset) String() string {
	ahead, way := o.Ahead.Round(time.Microsecond), "ahead"
	if ahead < 0 {
		way = "behind"
	}
	return fmt.Sprintf("%s by %v (round trip %v)", way, ahead.Abs(), o.RoundTrip.Round(time.Microsecond))
}
