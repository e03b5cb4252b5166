package results

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestStability(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	noise := func(sd float64) float64 { return 1 + sd*rng.NormFloat64() }
	for _, c := range []struct {
		name  string
		n     int
		rate  func(i int) float64
		state string
		want  string
	}{
		{"even", 60, func(int) float64 { return 100 * noise(.02) }, "steady", "steady: segments vary by "},
		{"constant", 60, func(int) float64 { return 100 }, "steady", "steady: segments vary by 0.0 %"},
		{"short", 9, func(int) float64 { return 100 }, "unknown", "too short to tell: 9 segments, and 10 are needed"},
		{"falling", 120, func(i int) float64 { return (100 - float64(i)/4) * noise(.02) }, "drifting", "drifting by -17."},
		{"rising slowly", 120, func(i int) float64 { return (100 + float64(i)/60) * noise(.005) }, "steady", "steady"},
		{"stall", 60, func(i int) float64 {
			if i == 20 || i == 21 {
				return 5
			}
			return 100 * noise(.02)
		}, "unsteady", "unsteady from 00:00:20 UTC to 00:00:22 UTC: 2 of 60 segments are far from the rest, by up to -"},
		{"outage while falling", 60, func(i int) float64 {
			if i == 5 {
				return 0
			}
			return 100 - float64(i)/2
		}, "unsteady", "unsteady from 00:00:05 UTC to 00:00:06 UTC: 1 of 60 segments is far from the rest, by up to -100 %"},
		{"noisy", 60, func(i int) float64 { return 100 + 50*math.Sin(float64(i)*2) }, "unsteady", "unsteady from 00:00:00 UTC to 00:01:00 UTC: segments vary by 3"},
		{"dead", 60, func(i int) float64 { return 0 }, "unsteady", "unsteady: in most segments nothing was done"},
	} {
		op := &Operation{SegmentS: 1, ObjectBytes: SizeRange{Max: 1}}
		for i := range c.n {
			op.Segments = append(op.Segments, Segment{Start: time.Unix(int64(i), 0).UTC(), DurationS: 1, BytesPerS: c.rate(i)})
		}
		s := StabilityOf(op, op.Segments)
		if s.State != c.state || !strings.HasPrefix(s.Sentence, c.want) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// Noise that is correlated as in runs is seldom reported as a drift.
func TestNoiseIsNoDrift(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	drifting := 0
	const runs = 200
	for range runs {
		op := &Operation{SegmentS: 1}
		x := 0.
		for i := range 60 {
			x = .6*x + rng.NormFloat64()
			op.Segments = append(op.Segments, Segment{Start: time.Unix(int64(i), 0), DurationS: 1, ObjectsPerS: 100 + 3*x})
		}
		if StabilityOf(op, op.Segments).State == "drifting" {
			drifting++
		}
	}
	if drifting > runs/10 {
		t.Errorf("%d of %d runs without a drift are called drifting", drifting, runs)
	}
}

// If there are many segments, they are judged as a limited number of longer ones.
func TestStabilityOfManySegments(t *testing.T) {
	t.Parallel()
	op := Operation{SegmentS: .001}
	for i := range 100_000 {
		op.Segments = append(op.Segments, Segment{Start: time.Unix(0, int64(i)*1e6), DurationS: .001, ObjectsPerS: 1000 + float64(i)/100})
	}
	r := StabilityOf(&op, op.Segments)
	if r.Segments > maxStable || r.State != "drifting" || math.Abs(r.DriftPerMin-.4) > .01 {
		t.Errorf("%+v", r)
	}
}

// A store that dies at the end of the window is unsteady then, also if the end is
// half a segment, or less than the segments that are judged together.
func TestStabilityAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, n := range []int{14, 1200} {
		op := Operation{SegmentS: 1}
		for i := range n {
			op.Segments = append(op.Segments, Segment{Start: time.Unix(int64(i), 0).UTC(), DurationS: 1, ObjectsPerS: 800})
		}
		for i := range 1 + n/500 { // the last one is shorter
			op.Segments = append(op.Segments, Segment{Start: time.Unix(int64(n+i), 0).UTC(), DurationS: .9})
		}
		r := StabilityOf(&op, op.Segments)
		if k := len(r.Outliers); r.State != "unsteady" || k != 1 || r.Outliers[k-1].Distance > -.9 {
			t.Errorf("%d segments: %+v", n, r)
		}
	}
}
