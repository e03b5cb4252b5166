package pacing

import (
	"math"

	"warp/pkg/generator"
)

// Arrivals are how the requests of an open loop are spread over time. The zero value spreads them evenly.
type Arrivals struct {
	// Poisson makes the arrivals of each instant independent of all others, as those of many separate users are.
	Poisson bool
	// Seed and Stream determine Poisson arrivals.
	Seed   uint64
	Stream int
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
	next     float64 // the time of the next arrival
}

func newSequence(a Arrivals) *sequence {
	s := &sequence{arrivals: a}
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
		return s.random.ExpFloat64()
	}
	return s.shift
}

// take moves on to the next arrival.
func (s *sequence) take() {
	s.taken++
	if s.arrivals.Poisson {
		s.next += s.random.ExpFloat64()
		return
	}
	s.next = float64(s.taken) + s.shift
}

// maxCounted limits the Poisson arrivals that are counted one by one. The number of any more is drawn instead.
const maxCounted = 10_000_000

// rest returns the arrivals that were not taken between two times: when the first and the last one are, and their number.
func (s *sequence) rest(from, to float64) (first, last float64, n int64) {
	if !s.arrivals.Poisson {
		return s.evenRest(from, to)
	}
	random := s.random.Clone()
	at := s.next
	for ; at < to && n < maxCounted; at += random.ExpFloat64() {
		if at < from {
			continue
		}
		if n == 0 {
			first = at
		}
		last = at
		n++
	}
	if at < to { // far more than the normal distribution needs
		expected := to - at
		n += 1 + int64(max(expected+math.Sqrt(expected)*random.NormFloat64(), 0))
		last = to
	}
	return first, last, n
}

func (s *sequence) evenRest(from, to float64) (first, last float64, n int64) {
	// The tiny part keeps a whole number of intervals from being rounded up by the last bit of a division.
	before := func(t float64) int64 { return int64(math.Ceil(t - s.shift - 1e-9)) }
	number := max(s.taken, before(from))
	n = max(0, before(to)-number)
	return float64(number) + s.shift, float64(number+n-1) + s.shift, n
}
