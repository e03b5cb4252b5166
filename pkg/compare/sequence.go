package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// A Sequence says that all runs of one side were made before the runs of the other. Whatever
// changed in the meantime looks like a difference of the sides.
type Sequence struct {
	First     string  `json:"first"`      // "before" or "after"
	DistanceS float64 `json:"distance_s"` // between the middles of the sides
}

// A Trend is how far a metric drifts from the middle of the earlier side to the middle of the later
// one, if it goes on as within the sides. It has the sign of a change from before to after.
type Trend struct {
	Change float64 `json:"change_percent"`
	Low    float64 `json:"low_percent"` // 80 % interval, so that each end is at 90 %
	High   float64 `json:"high_percent"`
}

// A span is the time of the measured part of a run.
type span struct{ begin, end time.Time }

func (s span) middle() time.Time { return s.begin.Add(s.end.Sub(s.begin) / 2) }

func spanOf(r *results.Report) (s span, ok bool) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Kind == results.KindPreparation || g.WindowStart.IsZero() {
			continue
		}
		if !ok || g.WindowStart.Before(s.begin) {
			s.begin = g.WindowStart
		}
		if !ok || g.WindowEnd.After(s.end) {
			s.end = g.WindowEnd
		}
		ok = true
	}
	return s, ok
}

func spansOf(runs []Run) (all []span, ok bool) {
	for _, r := range runs {
		s, ok := spanOf(r.Report)
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, len(all) > 0
}

// precede reports whether all runs of a ended before the first of b began.
func precede(a, b []span) bool {
	last := slices.MaxFunc(a, func(x, y span) int { return x.end.Compare(y.end) })
	first := slices.MinFunc(b, func(x, y span) int { return x.begin.Compare(y.begin) })
	return !last.end.After(first.begin)
}

// sequence returns nil if the sides overlap in time, or if the times are unknown.
func sequence(before, after []Run) *Sequence {
	b, ok := spansOf(before)
	a, also := spansOf(after)
	if !ok || !also || min(len(b), len(a)) < 2 { // of two single runs one is always first
		return nil
	}
	s := &Sequence{First: "before", DistanceS: math.Abs(middle(a, b[0].begin) - middle(b, b[0].begin))}
	switch {
	case precede(b, a):
	case precede(a, b):
		s.First = "after"
	default:
		return nil
	}
	return s
}

// middle returns the mean of the times of the runs, in seconds since zero.
func middle(all []span, zero time.Time) (sum float64) {
	for _, s := range all {
		sum += s.middle().Sub(zero).Seconds() / float64(len(all))
	}
	return sum
}

// times are the times of the runs of both sides, in seconds.
type times struct {
	before, after []float64
	distance      float64 // from the middle of the runs before to the middle of the runs after
}

// timesOf returns nil if the order of the runs explains nothing, or if the sides are so far apart
// that no trend within them reaches from one to the other.
func timesOf(s *Sequence, before, after []Run) *times {
	if s == nil || s.DistanceS > trendReach.Seconds() {
		return nil
	}
	b, _ := spansOf(before)
	a, _ := spansOf(after)
	zero := b[0].begin
	t := &times{distance: middle(a, zero) - middle(b, zero)}
	for _, x := range b {
		t.before = append(t.before, x.middle().Sub(zero).Seconds())
	}
	for _, x := range a {
		t.after = append(t.after, x.middle().Sub(zero).Seconds())
	}
	return t
}

// trend extrapolates the drift of the logarithms within the sides over the distance between them.
func (t *times) trend(before, after []float64) *Trend {
	if t == nil {
		return nil
	}
	slope, low, high, ok := stats.CommonSlope(trendLevel, stats.Points{At: t.before, Values: before}, stats.Points{At: t.after, Values: after})
	if !ok {
		return nil
	}
	ends := []float64{low * t.distance, high * t.distance}
	slices.Sort(ends) // the distance is negative if the runs after were made first
	percent := func(log float64) float64 { return 100 * math.Expm1(log) }
	return &Trend{percent(slope * t.distance), percent(ends[0]), percent(ends[1])}
}

// drift says why a trend within the sides may be the cause of the change, or hide one: its interval
// excludes 0, and it reaches the size of the change. It returns "" if not.
func (r *Row) drift(minEffect float64) string {
	t := r.Trend
	if t == nil || t.Low <= 0 && t.High >= 0 {
		return ""
	}
	far := t.High
	if t.High < 0 {
		far = t.Low
	}
	change := *r.Change
	causes := change*far > 0 && math.Abs(far) >= math.Abs(change)
	hides := math.Abs(change) < 100*minEffect && math.Abs(far) >= 100*minEffect
	if !causes && !hides {
		return ""
	}
	return fmt.Sprintf("it drifts within the sides, which makes %+.1f%% (%+.1f%%…%+.1f%%) from one to the other", t.Change, t.Low, t.High)
}
