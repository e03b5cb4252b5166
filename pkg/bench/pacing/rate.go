package pacing

import (
	"math"
	"time"
)

// A Stage is a time in which the rate changes linearly, or does not change.
type Stage struct {
	Length   time.Duration
	From, To float64 // arrivals per second
}

// A rate is how many arrivals are expected by when: its pieces follow one another.
type rate []piece

// A piece is a stage, with the time and the number of arrivals before it.
type piece struct {
	start, arrivals float64 // s, number
	length          float64 // s; +Inf = without end
	from, to        float64 // arrivals/s
}

// newRate returns the rate of stages. If then is not 0, the last stage is followed by that rate without end.
func newRate(stages []Stage, then float64) (r rate) {
	var start, arrivals float64
	for _, s := range stages {
		p := piece{start, arrivals, s.Length.Seconds(), s.From, s.To}
		r = append(r, p)
		start += p.length
		arrivals = p.end()
	}
	if then > 0 {
		r = append(r, piece{start, arrivals, math.Inf(1), then, then})
	}
	return r
}

// end returns the number of arrivals at the end of the piece.
func (p *piece) end() float64 {
	if math.IsInf(p.length, 1) {
		return math.Inf(1)
	}
	return p.arrivals + (p.from+p.to)/2*p.length
}

// ends returns the number of arrivals at the end of each piece that has one.
func (r rate) ends() (ends []float64) {
	for i := range r {
		if end := r[i].end(); !math.IsInf(end, 1) {
			ends = append(ends, end)
		}
	}
	return ends
}

// slope is the change of the rate, per s.
func (p *piece) slope() float64 {
	if p.from == p.to {
		return 0
	}
	return (p.to - p.from) / p.length
}

// at returns when n arrivals are expected to be due, in s from the start; +Inf if there will not be so many.
func (r rate) at(n float64) float64 {
	for i := range r {
		if p := &r[i]; n < p.end() {
			m := max(n-p.arrivals, 0)
			if m == 0 {
				return p.start
			}
			// Solves from·t + slope·t²/2 = m, in the form that has no difference of large numbers.
			return p.start + 2*m/(p.from+math.Sqrt(max(p.from*p.from+2*p.slope()*m, 0)))
		}
	}
	return math.Inf(1)
}

// before returns how many arrivals are expected before t, in s from the start. It is the inverse of at.
func (r rate) before(t float64) float64 {
	n := 0.0
	for i := range r {
		p := &r[i]
		if t <= p.start {
			break
		}
		d := min(t-p.start, p.length)
		n = p.arrivals + d*(p.from+p.slope()*d/2)
	}
	return n
}
