package pacing

import (
	"math"

	"warp/pkg/generator"
)

// Arrivals are how the requests of an open loop are spread over time. The zero value spreads them evenly.
type Arrivals struct {
	// Poisson makes the arrivals of each instant independent of all others, as if there were many separate users.
	Poisson bool
	// Seed and Stream determine Poisson arrivals.
	Seed   uint64
	Stream int
	// Counted gives each stage as many arrivals as its rate says: Poisson arrivals are at random in a stage, but their number is not.
	Counted bool
	// Client is the number of this client, from 0, of Clients that share a load; 0 clients = it is the only one. The even
	// schedules of clients are shifted against each other, so that their sum is even as well.
	Client, Clients int
}

// A sequence has the arrivals of one client at a rate of 1, as times from the start. A rate maps them to real times.
type sequence struct {
	arrivals Arrivals
	shift    float64 // of the even schedule
	random   *generator.Stream
	taken    int64   // arrivals that next has returned
	next     float64 // the time of the next arrival; +Inf = there is none

	// With Counted:
	ends []float64 // of the stages that have not begun
	end  float64   // of the current stage
	left int64     // arrivals of the current stage that next has not returned, the next one included
}

// newSequence returns the arrivals. ends are the ends of the stages at a rate of 1, for Counted.
func newSequence(a Arrivals, ends []float64) *sequence {
	s := &sequence{arrivals: a, ends: ends}
	if a.Clients > 1 {
		s.shift = float64(a.Client) / float64(a.Clients)
	}
	if a.Poisson {
		s.random = generator.Rand(a.Seed, "arrivals", a.Stream)
	}
	s.next = s.first()
	return s
}

func (s *sequence) first() float64 {
	if s.arrivals.Poisson {
		return s.after(0)
	}
	return s.shift
}

// take moves on to the next arrival.
func (s *sequence) take() {
	s.taken++
	if s.arrivals.Poisson {
		s.next = s.after(s.next)
		return
	}
	s.next = float64(s.taken) + s.shift
}

// after returns the Poisson arrival after one at that time.
func (s *sequence) after(at float64) float64 {
	if !s.arrivals.Counted {
		return at + s.random.ExpFloat64()
	}
	s.left--
	for s.left <= 0 {
		if len(s.ends) == 0 {
			return math.Inf(1)
		}
		at, s.end, s.ends = s.end, s.ends[0], s.ends[1:]
		s.left = s.evenBefore(s.end) - s.evenBefore(at)
	}
	// The first of n times that are at random in the rest of the stage.
	return at + (s.end-at)*-math.Expm1(-s.random.ExpFloat64()/float64(s.left))
}

// maxCounted limits the Poisson arrivals that are counted one by one. The number of any more is drawn instead.
const maxCounted = 10_000_000

// rest returns the arrivals that were not taken between two times: when the first and the last one are, and their number.
func (s *sequence) rest(from, to float64) (first, last float64, n int64) {
	if !s.arrivals.Poisson {
		return s.evenRest(from, to)
	}
	c := *s
	c.random = s.random.Clone()
	for ; c.next < to && n < maxCounted; c.take() {
		if c.next < from {
			continue
		}
		if n == 0 {
			first = c.next
		}
		last = c.next
		n++
	}
	if at := c.next; at < to { // far more than the normal distribution needs
		expected := to - at
		n += 1 + int64(max(expected+math.Sqrt(expected)*c.random.NormFloat64(), 0))
		last = to
	}
	return first, last, n
}

// evenBefore returns the number of arrivals of the even schedule before that time.
func (s *sequence) evenBefore(t float64) int64 {
	// The tiny part keeps a whole number of intervals from being rounded up by the last bit of a division.
	return int64(math.Ceil(t - s.shift - 1e-9))
}

func (s *sequence) evenRest(from, to float64) (first, last float64, n int64) {
	number := max(s.taken, s.evenBefore(from))
	n = max(0, s.evenBefore(to)-number)
	return float64(number) + s.shift, float64(number+n-1) + s.shift, n
}
