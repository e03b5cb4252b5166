package fleet

import (
	"encoding/binary"
	"fmt"
	"time"
)

// A clock tells the time of day in unix ns by the monotonic clock: a clock that
// is set while a run lasts does not move it.
type clock struct {
	at   time.Time
	base int64
}

// newClock begins with what the system says now, moved by skew.
func newClock(skew time.Duration) clock {
	now := time.Now()
	return clock{now, now.UnixNano() + int64(skew)}
}

func (c clock) now() int64 { return c.unixNano(time.Now()) }

func (c clock) unixNano(t time.Time) int64 { return c.base + int64(t.Sub(c.at)) }

// time is the moment, with its monotonic reading, at which the clock shows ns.
func (c clock) time(ns int64) time.Time { return c.at.Add(time.Duration(ns - c.base)) }

const (
	// clockSamples are taken in a row; the one with the shortest way counts,
	// since what made the others longer was most likely not symmetric.
	clockSamples = 16
	// maxSkew is how much a client's clock may differ from the coordinator's.
	maxSkew = time.Second
)

// An Offset is how far the clock of a client is ahead of the coordinator's.
type Offset struct {
	Ahead     time.Duration
	RoundTrip time.Duration // of the best sample; Ahead is off by at most half of it
	Samples   int
}

// sample works an offset out of the four times of NTP: sent and received by the
// coordinator's clock, arrived and answered by the client's.
func sample(sent, arrived, answered, received int64) Offset {
	return Offset{
		Ahead:     time.Duration((arrived-sent)+(answered-received)).Round(2) / 2,
		RoundTrip: time.Duration((received - sent) - (answered - arrived)),
	}
}

// add keeps the better of two.
func (o *Offset) add(s Offset) {
	n := o.Samples + 1
	if o.Samples == 0 || s.RoundTrip < o.RoundTrip {
		*o = s
	}
	o.Samples = n
}

// tooFar says that the clocks are certainly further apart than allowed.
func (o Offset) tooFar() bool { return o.Ahead.Abs()-o.RoundTrip/2 > maxSkew }

func (o Offset) String() string {
	ahead, way := o.Ahead.Round(time.Microsecond), "ahead"
	if ahead < 0 {
		way = "behind"
	}
	return fmt.Sprintf("%s by %v (round trip %v)", way, ahead.Abs(), o.RoundTrip.Round(time.Microsecond))
}

// ping and pong are fixed in size, and not JSON, to take as little time as can be.
func pingBody(sent int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(sent)) }

func pongBody(ping []byte, arrived, answered int64) []byte {
	b := append(make([]byte, 0, 24), ping[:8]...)
	b = binary.BigEndian.AppendUint64(b, uint64(arrived))
	return binary.BigEndian.AppendUint64(b, uint64(answered))
}

func readPong(body []byte, received int64) (Offset, error) {
	if len(body) != 24 {
		return Offset{}, fmt.Errorf("a message cannot be read: %d bytes of a pong", len(body))
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(body[8*i:])) }
	return sample(at(0), at(1), at(2), received), nil
}
