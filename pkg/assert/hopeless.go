package assert

import (
	"fmt"
	"math"
	"time"

	"warp/pkg/results"
)

// Extreme says whether one request can decide about the metric.
func (m Metric) Extreme() bool { return m.Family.IsTime() && (m.Stat == Min || m.Stat == Max) }

const (
	// headroom is by how much the rest of a run may at most be faster than its
	// fastest piece.
	headroom = 2
	// settle is how long after its end a piece still gets requests.
	settle = 2 * time.Second
)

// Hopeless says why an assertion cannot hold any more in a run that lasts for
// another time, which is negative where nothing is known of it; "" where it may
// hold. The report is of the run so far. It is cautious: what is still to come
// counts as twice as much as in the fastest piece so far, and all of it in
// favour of the assertion.
func Hopeless(a *Assertion, r *results.Report, left time.Duration) string {
	if a.Metric.Family.ofMarks() {
		return "" // a mark may still recover
	}
	for _, s := range subjectsOf(a, r) {
		if s.course == nil || s.basis == results.Whole || len(s.course.Slices[0]) < fewPieces {
			continue
		}
		h := future{Assertion: a, whole: &s.course.Whole, left: left}
		for i := range s.course.Slices[0] {
			h.fastest(&s.course.Slices[0][i])
		}
		if a.Every > 0 && h.pieces(s.course.Slices[a.Every]) || a.Every == 0 && h.decided() {
			value, _ := a.Metric.of(&s.course.Whole)
			return fmt.Sprintf("%q cannot hold any more: %s is %s after %s", a.Text, a.Subject(), a.Format(value), time.Duration(s.course.Whole.Seconds*1e9).Round(time.Second))
		}
	}
	return ""
}

// A future is what may come of an assertion.
type future struct {
	*Assertion
	whole *results.Slice
	left  time.Duration

	bytes, objects, requests float64 // the highest rates of a piece
}

func (f *future) fastest(s *results.Slice) {
	if s.Seconds < .05 {
		return
	}
	f.bytes = max(f.bytes, s.Bytes/s.Seconds)
	f.objects = max(f.objects, s.Objects/s.Seconds)
	f.requests = max(f.requests, float64(s.Inside+s.Errors)/s.Seconds)
}

// rest is how much may still come at a rate, what is on its way included.
func (f *future) rest(rate float64) float64 {
	return headroom * rate * (f.left + settle + f.whole.Latency.Max()).Seconds()
}

// decided says whether the measured value of the whole window cannot hold.
func (f *future) decided() bool {
	w, m := f.whole, f.Metric
	value, ok := m.of(w)
	if !ok || f.Cmp.Holds(value, f.Limit) {
		return false
	}
	switch {
	case m.Extreme():
		return (m.Stat == Max) == f.Cmp.Upper() // the other extreme may still move
	case f.left < 0 || m.requests(w) < m.Needs():
		return false
	case m.Family == Throughput:
		return !f.rateMayHold(w.Bytes, f.bytes)
	case m.Family == Objects:
		return !f.rateMayHold(w.Objects, f.objects)
	case m.Family == Errors && f.Cmp.Upper():
		return !f.Cmp.Holds(float64(w.Errors)/(float64(w.Inside+w.Errors)+f.rest(f.requests)), f.Limit)
	case m.Family == Errors:
		return false
	}
	return f.timesDecided()
}

// rateMayHold is about an average over the whole window.
func (f *future) rateMayHold(done, fastest float64) bool {
	all := f.whole.Seconds + f.left.Seconds()
	if f.Cmp.Upper() {
		return f.Cmp.Holds(done/all, f.Limit)
	}
	return f.Cmp.Holds((done+f.rest(fastest))/all, f.Limit)
}

// timesDecided is about means and percentiles.
func (f *future) timesDecided() bool {
	h := f.Metric.Family.times(f.whole)
	all := float64(h.Count()) + f.rest(f.requests)
	if f.Metric.Stat == Mean {
		return f.Cmp.Upper() && !f.Cmp.Holds(h.Sum()/1e6/all, f.Limit)
	}
	beyond := 0.
	h.Each(func(v time.Duration, n uint64) {
		if !f.Cmp.Holds(millis(v), f.Limit) {
			beyond += float64(n)
		}
	})
	if f.Cmp.Upper() {
		return beyond > math.Ceil((1-f.Metric.Q)*all)+1
	}
	return beyond > math.Ceil(f.Metric.Q*all)+1
}

// pieces says whether too many pieces have failed already.
func (f *future) pieces(all []results.Slice) bool {
	if f.left < 0 || len(all) == 0 {
		return false
	}
	now := f.whole.Start.Add(time.Duration(f.whole.Seconds * 1e9))
	v := verdict{Assertion: f.Assertion}
	failed := 0
	for i := range all {
		s := &all[i]
		over := now.Sub(s.Start) - f.Every
		if s.Seconds >= f.Every.Seconds()*(1-1e-9) && over > settle+f.whole.Latency.Max() && v.pieceHolds(s) == results.Failed {
			failed++
		}
	}
	total := math.Floor((f.whole.Seconds + f.left.Seconds()) / f.Every.Seconds())
	return failed > 0 && (total-float64(failed))/total < f.Share-1e-9
}
