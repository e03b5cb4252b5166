package assert

import (
	"fmt"
	"math"
	"time"

	"warp/pkg/results"
)

// Extreme reports whether a single request can decide the metric.
func (m Metric) Extreme() bool { return m.Family.isTime() && (m.Stat == Min || m.Stat == Max) }

const (
	// headroom is how much faster the rest of a run may be than its fastest
	// segment.
	headroom = 2
	// grace is how long after its end a segment may still receive requests.
	grace = 2 * time.Second
)

// Unreachable says why an assertion can no longer hold, or "" if it can. The
// report covers the run so far, and left is the rest of the run, negative if
// unknown. The estimate is cautious: the rest counts twice as much as the
// fastest segment so far, all in favour of the assertion.
func Unreachable(a *Assertion, r *results.Report, left time.Duration) string {
	if a.Metric.Family.ofMarks() {
		return "" // a mark may still recover
	}
	for _, s := range subjectsOf(a, r) {
		if s.timeline == nil || s.basis == results.Whole || len(s.timeline.Slices[0]) < minSegments {
			continue
		}
		f := future{Assertion: a, whole: &s.timeline.Whole, left: left}
		for i := range s.timeline.Slices[0] {
			f.addRates(&s.timeline.Slices[0][i])
		}
		if a.Every > 0 && f.tooManyFail(s.timeline.Slices[a.Every]) || a.Every == 0 && f.decided() {
			value, _ := a.Metric.of(&s.timeline.Whole)
			return fmt.Sprintf("%q cannot hold any more: %s is %s after %s", a.Text, a.Subject(), a.Format(value), time.Duration(s.timeline.Whole.Seconds*1e9).Round(time.Second))
		}
	}
	return ""
}

// A future estimates the final result of an assertion.
type future struct {
	*Assertion
	whole *results.Slice
	left  time.Duration

	bytes, objects, requests float64 // highest rates of a segment
}

func (f *future) addRates(s *results.Slice) {
	if s.Seconds < .05 {
		return
	}
	f.bytes = max(f.bytes, s.Bytes/s.Seconds)
	f.objects = max(f.objects, s.Objects/s.Seconds)
	f.requests = max(f.requests, float64(s.Inside+s.Errors)/s.Seconds)
}

// remaining returns how much may still come at a rate, including requests in
// flight.
func (f *future) remaining(rate float64) float64 {
	return headroom * rate * (f.left + grace + f.whole.Latency.Max()).Seconds()
}

// decided reports whether the value of the whole window can no longer hold.
func (f *future) decided() bool {
	w, m := f.whole, f.Metric
	value, ok := m.of(w)
	if !ok || f.Cmp.holds(value, f.Limit) {
		return false
	}
	switch {
	case m.Extreme():
		return (m.Stat == Max) == f.Cmp.Upper() // the other extreme may still move
	case f.left < 0 || m.requests(w) < m.needs():
		return false
	case m.Family == Throughput:
		return !f.rateMayHold(w.Bytes, f.bytes)
	case m.Family == Objects:
		return !f.rateMayHold(w.Objects, f.objects)
	case m.Family == Errors && f.Cmp.Upper():
		return !f.Cmp.holds(float64(w.Errors)/(float64(w.Inside+w.Errors)+f.remaining(f.requests)), f.Limit)
	case m.Family == Errors:
		return false
	}
	return f.timesDecided()
}

// rateMayHold reports whether an average over the whole window can still hold.
func (f *future) rateMayHold(done, fastest float64) bool {
	all := f.whole.Seconds + f.left.Seconds()
	if f.Cmp.Upper() {
		return f.Cmp.holds(done/all, f.Limit)
	}
	return f.Cmp.holds((done+f.remaining(fastest))/all, f.Limit)
}

// timesDecided reports whether a mean or percentile can no longer hold.
func (f *future) timesDecided() bool {
	h := f.Metric.Family.times(f.whole)
	all := float64(h.Count()) + f.remaining(f.requests)
	if f.Metric.Stat == Mean {
		return f.Cmp.Upper() && !f.Cmp.holds(h.Sum()/1e6/all, f.Limit)
	}
	beyond := 0.
	h.Each(func(v time.Duration, n uint64) {
		if !f.Cmp.holds(millis(v), f.Limit) {
			beyond += float64(n)
		}
	})
	if f.Cmp.Upper() {
		return beyond > math.Ceil((1-f.Metric.Q)*all)+1
	}
	return beyond > math.Ceil(f.Metric.Q*all)+1
}

// tooManyFail reports whether too many segments have failed already.
func (f *future) tooManyFail(all []results.Slice) bool {
	if f.left < 0 || len(all) == 0 {
		return false
	}
	now := f.whole.Start.Add(time.Duration(f.whole.Seconds * 1e9))
	v := verdict{Assertion: f.Assertion}
	failed := 0
	for i := range all {
		s := &all[i]
		over := now.Sub(s.Start) - f.Every
		// The last full piece may still get a short rest of the window.
		if s.Seconds >= f.Every.Seconds()*(1-1e-9) && over > max(grace+f.whole.Latency.Max(), f.Every/2) && v.judgeSegment(s) == results.Failed {
			failed++
		}
	}
	total := math.Ceil((f.whole.Seconds + f.left.Seconds()) / f.Every.Seconds())
	return failed > 0 && (total-float64(failed))/total < f.Share-1e-9
}
