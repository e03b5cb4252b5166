package results

import (
	"fmt"
	"math"
	"time"

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
	Segments int     `json:"segments"` // number of full segments
	CV       float64 `json:"cv"`       // coefficient of variation of their throughput

	// Slope of the throughput by Theil and Sen, as a share per minute, with its 95 % interval.
	DriftPerMin     float64   `json:"drift_per_min"`
	DriftLowPerMin  float64   `json:"drift_low_per_min"`
	DriftHighPerMin float64   `json:"drift_high_per_min"`
	Outliers        []Outlier `json:"outliers,omitempty"` // in order of time
}

// An Outlier is a segment that is far from the trend.
type Outlier struct {
	Start    time.Time `json:"start"`
	Distance float64   `json:"distance"` // from the trend, as a share of the median; below 0 is slower
}

// StabilityOf judges the segments of full length.
func StabilityOf(op *Operation) *Stability {
	var full []*Segment
	var rates []float64
	for i := range op.Segments {
		s := &op.Segments[i]
		if s.DurationS < op.SegmentS*(1-1e-9) {
			continue
		}
		rate := s.ObjectsPerS
		if op.HasBytes() {
			rate = s.BytesPerS
		}
		full, rates = append(full, s), append(rates, rate)
	}
	length := op.SegmentS
	if k := (len(full) + maxStable - 1) / maxStable; k > 1 {
		full, rates = joinSegments(full, rates, k)
		length *= float64(k)
	}
	r := &Stability{State: "unknown", Segments: len(full)}
	if len(full) < fewSegments {
		r.Sentence = fmt.Sprintf("too short to tell: %s, and %d are needed", human.Count(len(full), "full segment", "full segments"), fewSegments)
		return r
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
	r.outliers(full, rates, &trend, middle)
	drifts := (trend.Low > 0 || trend.High < 0) && math.Abs(trend.Slope)*float64(len(rates)-1) > steadyDrift*middle
	r.conclude(full, length, drifts)
	return r
}

// maxStable limits the number of segments, since the trend compares each with each. If there are
// more, neighbours are merged.
const maxStable = 400

func joinSegments(full []*Segment, rates []float64, k int) (joined []*Segment, means []float64) {
	for i := 0; i+k <= len(full); i += k {
		sum := 0.
		for _, rate := range rates[i : i+k] {
			sum += rate
		}
		joined, means = append(joined, full[i]), append(means, sum/float64(k))
	}
	return joined, means
}

// outliers finds the segments that are far from the trend.
func (r *Stability) outliers(full []*Segment, rates []float64, trend *stats.Trend, middle float64) {
	rest := make([]float64, len(rates))
	for i := range rates {
		rest[i] = rates[i] - trend.At(i)
	}
	far := max(outlierAfter*stats.Spread(rest), steadyRange*middle)
	for i, d := range rest {
		if math.Abs(d) > far {
			r.Outliers = append(r.Outliers, Outlier{full[i].Start, d / middle})
		}
	}
}

// conclude sets the state and its sentence.
func (r *Stability) conclude(full []*Segment, length float64, drifts bool) {
	const clock = "15:04:05 MST"
	end := func(s time.Time) string { return s.Add(time.Duration(length * 1e9)).Format(clock) }
	drift := fmt.Sprintf("drifting by %+.1f %% per minute (%+.1f to %+.1f)", 100*r.DriftPerMin, 100*r.DriftLowPerMin, 100*r.DriftHighPerMin)
	n := len(r.Outliers)
	switch {
	case n > 0:
		worst := 0.
		for _, o := range r.Outliers {
			if math.Abs(o.Distance) > math.Abs(worst) {
				worst = o.Distance
			}
		}
		r.State = "unsteady"
		r.Sentence = fmt.Sprintf("unsteady from %s to %s: %d of %d segments are far from the rest, by up to %+.0f %%",
			r.Outliers[0].Start.Format(clock), end(r.Outliers[n-1].Start), n, len(full), 100*worst)
		if drifts {
			r.Sentence += ", and " + drift
		}
	case drifts:
		r.State, r.Sentence = "drifting", drift
	case r.CV > steadyRange:
		r.State = "unsteady"
		r.Sentence = fmt.Sprintf("unsteady from %s to %s: segments vary by %.0f %% (coefficient of variation)",
			full[0].Start.Format(clock), end(full[len(full)-1].Start), 100*r.CV)
	default:
		r.State = "steady"
		r.Sentence = fmt.Sprintf("steady: segments vary by %.1f %% (coefficient of variation)", 100*r.CV)
	}
}
