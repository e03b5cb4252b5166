package workload

import "math"

// A rateCounter counts requests in intervals, which become longer if there are too many of them.
type rateCounter struct {
	begin    int64 // of the first interval, unix ns
	interval int64 // ns
	counts   []uint64
}

// intervals is the max number of intervals, an even number.
const intervals = 512

// add counts a request that starts at a time, which is not before the first request.
func (c *rateCounter) add(at int64) {
	if c.interval == 0 {
		c.begin, c.interval = at, 1e9
	}
	for (at-c.begin)/c.interval >= intervals {
		c.double()
	}
	i := int((at - c.begin) / c.interval)
	for len(c.counts) <= i {
		c.counts = append(c.counts, 0)
	}
	c.counts[i]++
}

func (c *rateCounter) double() {
	c.interval *= 2
	for i := range c.counts {
		if i%2 == 0 {
			c.counts[i/2] = c.counts[i]
		} else {
			c.counts[i/2] += c.counts[i]
		}
	}
	c.counts = c.counts[:(len(c.counts)+1)/2]
}

// block is the number of intervals that are compared with each other, so that slow changes of the rate do not count.
const block = 60

// A dispersionCounter finds the index of dispersion of the number of requests in intervals of one length.
type dispersionCounter struct {
	interval int64 // ns
	begin    int64
	started  bool
	at       int64  // number of the current interval
	current  uint64 // requests in it

	n, sum, squares float64 // of the intervals in the current block that have ended
	variation       float64 // sum of the squared deviations from the means of the blocks
	expected        float64 // the same for a Poisson process
	freedom         float64 // degrees of freedom
}

// add counts a request. Starts are in ascending order.
func (c *dispersionCounter) add(at int64) {
	if !c.started {
		c.begin, c.started = at, true
	}
	for i := (at - c.begin) / c.interval; c.at < i; {
		if c.current == 0 && c.n == 0 && i-c.at >= block { // whole blocks without a request
			c.at += (i - c.at) / block * block
			continue
		}
		c.endInterval()
	}
	c.current++
}

func (c *dispersionCounter) endInterval() {
	x := float64(c.current)
	c.n++
	c.sum += x
	c.squares += x * x
	c.current = 0
	c.at++
	if c.n == block {
		c.endBlock()
	}
}

func (c *dispersionCounter) endBlock() {
	if c.n > 1 && c.sum > 0 {
		mean := c.sum / c.n
		c.variation += max(c.squares-c.sum*mean, 0)
		c.expected += mean * (c.n - 1)
		c.freedom += c.n - 1
	}
	c.n, c.sum, c.squares = 0, 0, 0
}

// minFreedom is the min number of degrees of freedom for an index.
const minFreedom = 9

// minExpected is about the min number of requests for an index: two requests in the same second of an hour are no burst.
const minExpected = 30

// end returns the index, without the last interval, which is not complete.
func (c *dispersionCounter) end() (d Dispersion, ok bool) {
	c.endBlock()
	if c.freedom < minFreedom || c.expected < minExpected {
		return d, false
	}
	return Dispersion{IntervalS: float64(c.interval) / 1e9, Index: c.variation / c.expected, Intervals: uint64(c.freedom)}, true
}

// gapsOf judges the indexes of dispersion. Random numbers make an index differ from 1 as well, and half or one and a half
// times as much as a Poisson process has does not matter.
func gapsOf(all []Dispersion) Gaps {
	kind := UnknownGaps
	for _, d := range all {
		switch {
		case d.Index > max(1.5, d.byChance(3)):
			return BurstyGaps
		case d.Index < min(.5, d.byChance(-3)):
			kind = EvenGaps
		case kind == UnknownGaps:
			kind = PoissonGaps
		}
	}
	return kind
}

// byChance returns the index of a Poisson process that is that many standard deviations from the usual one. The index has a
// chi-squared distribution, whose cube root is about normal (Wilson and Hilferty, 1931).
func (d *Dispersion) byChance(deviations float64) float64 {
	variance := 2 / (9 * float64(d.Intervals))
	return math.Pow(1-variance+deviations*math.Sqrt(variance), 3)
}
