package results

import (
	"fmt"
	"math"
	"slices"
	"time"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/stats"
)

// The thresholds of docs/numbers.md. SNIA's test of solid-state storage calls throughput steady if
// it stays within 20 % in all and drifts by at most 10 % over the measured window. Iglewicz and
// Hoaglin call a value an outlier if it is more than 3.5 robust standard deviations away.
const (
	fewSegments  = 10
	steadyRange  = .20
	steadyDrift  = .10
	outlierAfter = 3.5
)

// Stability says how even the throughput of an operation was. Shares are of the
// median segment.
type Stability struct {
	State    string  `json:"state"`    // "steady", "drifting", "unsteady", or "unknown"
	Sentence string  `json:"sentence"` // the state for people
	Segments int     `json:"segments"` // number of segments that were judged
	CV       float64 `json:"cv"`       // coefficient of variation of their throughput

	// Slope of the throughput by Theil and Sen, as a share per minute, with its 95 % interval.
	DriftPerMin     float64   `json:"drift_per_min"`
	DriftLowPerMin  float64   `json:"drift_low_per_min"`
	DriftHighPerMin float64   `json:"drift_high_per_min"`
	Outliers        []Outlier `json:"outliers,omitempty"` // in order of time

	until time.Time // end of the last outlier
}

// An Outlier is a segment that is far from the trend.
type Outlier struct {
	Start    time.Time `json:"start"`
	Distance float64   `json:"distance"` // from the trend, as a share of it or of its middle, whichever is greater; below 0 is slower
}

// StabilityOf judges the segments of an operation. Short ones at the ends of the
// window must have been joined to their neighbours.
func StabilityOf(op *Operation, segments []Segment) *Stability {
	k := max(1, (len(segments)+maxStable-1)/maxStable)
	all := joinNeighbours(segments, k, op.HasBytes())
	length := op.SegmentS * float64(k)
	r := &Stability{State: "unknown", Segments: len(all)}
	if len(all) < fewSegments {
		r.Sentence = fmt.Sprintf("too short to tell: %s, and %d are needed", human.Plural(len(all), "segment"), fewSegments)
		return r
	}
	rates := make([]float64, len(all))
	for i := range all {
		rates[i] = all[i].rate
	}
	trend := stats.TheilSen(rates)
	middle := trend.At((len(rates) - 1) / 2)
	if middle <= 0 {
		r.State, r.Sentence = "unsteady", "unsteady: in most segments nothing was done"
		return r
	}
	r.CV = stats.Variation(rates)
	perMin := 60 / length / middle
	r.DriftPerMin, r.DriftLowPerMin, r.DriftHighPerMin = trend.Slope*perMin, trend.Low*perMin, trend.High*perMin
	r.outliers(all, &trend, middle)
	drifts := (trend.Low > 0 || trend.High < 0) && math.Abs(trend.Slope)*float64(len(rates)-1) > steadyDrift*middle
	r.conclude(all, drifts)
	return r
}

// maxStable limits the number of segments, since the trend compares each with each. If there are
// more, neighbours are merged.
const maxStable = 400

// A stretch is a time with its mean throughput.
type stretch struct {
	start         time.Time
	seconds, rate float64
}

func (s *stretch) end() time.Time { return s.start.Add(time.Duration(s.seconds * 1e9)) }

// joinNeighbours joins k segments at a time. The rest is joined to the last ones
// if it is less than half of k.
func joinNeighbours(segments []Segment, k int, byBytes bool) (all []stretch) {
	for i := range segments {
		s := &segments[i]
		rate := s.Rate(byBytes)
		if i%k == 0 && (len(all) == 0 || 2*(len(segments)-i) >= k) {
			all = append(all, stretch{start: s.Start})
		}
		last := &all[len(all)-1]
		last.rate += exact.Ratio(s.DurationS*(rate-last.rate), last.seconds+s.DurationS)
		last.seconds += s.DurationS
	}
	return all
}

// outliers finds the segments that are far from the trend.
func (r *Stability) outliers(all []stretch, trend *stats.Trend, middle float64) {
	rest := make([]float64, len(all))
	for i := range all {
		rest[i] = all[i].rate - trend.At(i)
	}
	far := max(outlierAfter*stats.Spread(rest), steadyRange*middle)
	for i, d := range rest {
		if math.Abs(d) > far {
			// While the trend is above its middle, it is the measure, so that nothing is slower by more than 100 %.
			r.Outliers = append(r.Outliers, Outlier{all[i].start, d / max(middle, trend.At(i))})
			r.until = all[i].end()
		}
	}
}

// FromMedian returns the distance of a value from the median of at least three, as a share of the median. It also reports whether
// the value is far from the others, as a segment may be.
func FromMedian(v float64, all []float64) (by float64, far bool) {
	if len(all) < 3 {
		return 0, false
	}
	middle := stats.Median(slices.Sorted(slices.Values(all)))
	if middle <= 0 {
		return 0, false
	}
	return (v - middle) / middle, math.Abs(v-middle) > max(outlierAfter*stats.Spread(all), steadyRange*middle)
}

// conclude sets the state and its sentence.
func (r *Stability) conclude(all []stretch, drifts bool) {
	const clock = "15:04:05 MST"
	drift := fmt.Sprintf("drifting by %+.1f %% per minute (%+.1f to %+.1f)", 100*r.DriftPerMin, 100*r.DriftLowPerMin, 100*r.DriftHighPerMin)
	n := len(r.Outliers)
	switch {
	case n > 0:
		worst := 0.
		for _, o := range r.Outliers {
			// What is slower counts first: a store that catches up after an outage is not the news.
			if o.Distance < 0 == (worst < 0) && math.Abs(o.Distance) > math.Abs(worst) || o.Distance < 0 && worst >= 0 {
				worst = o.Distance
			}
		}
		r.State = "unsteady"
		r.Sentence = fmt.Sprintf("unsteady from %s to %s: %d of %d segments %s far from the rest, by up to %+.0f %%",
			r.Outliers[0].Start.Format(clock), r.until.Format(clock), n, len(all), human.Choose(n, "is", "are"), 100*worst)
		if drifts {
			r.Sentence += ", and " + drift
		}
	case drifts:
		r.State, r.Sentence = "drifting", drift
	case r.CV > steadyRange:
		r.State = "unsteady"
		r.Sentence = fmt.Sprintf("unsteady from %s to %s: segments vary by %.0f %% (coefficient of variation)",
			all[0].start.Format(clock), all[len(all)-1].end().Format(clock), 100*r.CV)
	default:
		r.State = "steady"
		r.Sentence = fmt.Sprintf("steady: segments vary by %.1f %% (coefficient of variation)", 100*r.CV)
	}
}
