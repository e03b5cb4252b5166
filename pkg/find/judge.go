package find

import (
	"fmt"
	"math"

	"warp/internal/human"
	"warp/pkg/assert"
	"warp/pkg/results"
)

// An Outcome says whether a step held.
type Outcome string

// The outcomes of a step.
const (
	Held   Outcome = "held"   // the whole interval of each asserted value is on the right side
	Failed Outcome = "failed" // one is wholly on the wrong side, or the store did not keep up
	Open   Outcome = "open"   // neither
)

// Share is the share of the intervals: 99 of 100 contain the true value.
const Share = .99

// A Value is the measured value of an assertion.
type Value struct {
	Assertion *assert.Assertion `json:"-"`
	assert.Measured
}

// side returns on which side of the limit the interval is.
func (v *Value) side() Outcome {
	switch {
	case !v.Known || !v.Interval:
		return Open
	case v.Assertion.Holds(v.Low) && v.Assertion.Holds(v.High):
		return Held
	case !v.Assertion.Holds(v.Low) && !v.Assertion.Holds(v.High):
		return Failed
	}
	return Open
}

// miss returns by how much a value is on the wrong side of its limit, as a share of the limit; negative = it is on the right
// side.
func (v *Value) miss() float64 {
	if !v.Known {
		return math.Inf(1)
	}
	limit, upper := v.Assertion.Bound()
	d := (v.Measured.Value - limit) / max(math.Abs(limit), 1e-12)
	if !upper {
		d = -d
	}
	return d
}

// An Observation has the figures of the time in which a load was offered.
type Observation struct {
	Seconds  float64
	Values   []Value // of each assertion, in their order
	Rate     float64 // answered requests per second, successful or not
	Due      float64 // requests that were due in the window; 0 in a closed loop
	Answered float64 // requests that ended in the window
	InFlight float64 // mean number of requests at a time, without those that wait for a worker
	Growing  bool    // the backlog grew all the time
	Busy     bool    // at some time no worker was free
	Client   string  // why this machine was the limit; "" = it was not
	Logs     []string
}

// The store need not answer all requests that are due in a window, because some are in flight at its end: at low rates more than
// on average by chance, or because this machine paused for a moment.
const (
	answeredShare = .99
	inFlightTimes = 2
	inFlightMore  = 5
)

// behind says that the store did not keep up with the offered load; "" = it did.
func (o *Observation) behind() string {
	short := o.Due - o.Answered
	switch {
	case o.Due == 0 || short <= inFlightTimes*o.InFlight+inFlightMore:
		return ""
	case o.Answered < answeredShare*o.Due:
		return fmt.Sprintf("%.1f %% of the requests were answered in time", 100*o.Answered/o.Due)
	case o.Growing:
		return fmt.Sprintf("the backlog grew to %s", human.Plural(int64(short), "request"))
	}
	return ""
}

// judge returns the outcome of a step, and what has failed first.
func (o *Observation) judge() (Outcome, string) {
	if why := o.behind(); why != "" {
		return Failed, why
	}
	outcome, worst, largest := Held, "", math.Inf(-1)
	for i := range o.Values {
		v := &o.Values[i]
		switch side := v.side(); {
		case side == Failed:
			outcome = Failed
			if m := v.miss(); m > largest {
				largest, worst = m, v.describe()
			}
		case side == Open && outcome == Held:
			outcome = Open
		}
	}
	return outcome, worst
}

// describe compares the value with its limit.
func (v *Value) describe() string {
	if !v.Known {
		return fmt.Sprintf("%s: %s", v.Assertion.Text, v.Why)
	}
	limit, _ := v.Assertion.Bound()
	was := "was"
	if v.Assertion.Metric.Family == assert.Errors {
		was = "were"
	}
	return fmt.Sprintf("%s %s %s, the limit is %s", v.Assertion.Subject(), was, v.Assertion.Show(v.Measured.Value), v.Assertion.Show(limit))
}

// passes judges an open step by its values.
func (o *Observation) passes() bool {
	for i := range o.Values {
		if v := &o.Values[i]; !v.Known || !v.Assertion.Holds(v.Measured.Value) {
			return false
		}
	}
	return true
}

// better is the share by which the asserted value, or the answered share, must improve.
const better = .1

// betterThan reports whether more workers have helped.
func (o *Observation) betterThan(than *Observation) bool {
	if than.Due > 0 && o.Due > 0 && o.Answered/o.Due > than.Answered/than.Due*(1+better) {
		return true
	}
	for i := range o.Values {
		a, b := &o.Values[i], &than.Values[i]
		if b.miss() > 0 && a.Known && b.Known && math.Abs(a.Measured.Value-b.Measured.Value) > better*math.Abs(b.Measured.Value) && a.miss() < b.miss() {
			return true
		}
	}
	return false
}

// growing reports whether the backlog of a step grew all the time: the requests that were due and had not ended, in quarters of
// the step.
func growing(pieces []results.Slice, inFlight float64) bool {
	const quarters = 4
	if len(pieces) < 2*quarters {
		return false
	}
	var mean [quarters]float64
	var count [quarters]int
	backlog, due := 0., 0.
	for i := range pieces {
		p := &pieces[i]
		backlog += float64(p.Inside+p.Errors) - float64(p.Ended)
		due += float64(p.Inside + p.Errors)
		q := i * quarters / len(pieces)
		mean[q] += backlog
		count[q]++
	}
	for q := range mean {
		mean[q] /= float64(count[q])
		if q > 0 && mean[q] <= mean[q-1] {
			return false
		}
	}
	return mean[quarters-1]-mean[0] > max(inFlightTimes*inFlight, (1-answeredShare)/2*due)
}

// Observe makes an observation of the timeline of a whole step, with the pieces that are resampled, and of the timelines that the
// assertions are about. unsent are requests that were due in the window and never sent; open says that the load was
// offered by a schedule.
func Observe(asserts []*assert.Assertion, r *results.Report, whole *results.Timeline, of func(*assert.Assertion) *results.Timeline, unsent int64, open bool) Observation {
	w := &whole.Whole
	o := Observation{Seconds: w.Seconds, InFlight: w.Latency.Sum() / 1e9 / max(w.Seconds, 1e-9)}
	for i := range whole.Slices[Piece] {
		o.Answered += float64(whole.Slices[Piece][i].Ended)
	}
	o.Rate = o.Answered / max(w.Seconds, 1e-9)
	if open {
		o.Due = float64(w.Inside+w.Errors) + float64(unsent)
		o.Growing = growing(whole.Slices[Piece], o.InFlight)
	}
	for _, a := range asserts {
		v := Value{Assertion: a}
		if c := of(a); c != nil {
			v.Measured = a.Measure(r, c, Piece, Share)
		} else {
			v.Why = "there were no such requests"
		}
		if v.Client != "" && v.Known && !a.Holds(v.Measured.Value) {
			o.Client = v.Client
		}
		o.Values = append(o.Values, v)
	}
	return o
}
