package monitor

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"warp/internal/human"
	"warp/pkg/stats"
)

// Automatic termination divides the throughput since the start into 25 samples of equal length. A
// run is steady if the last 7 of them are within a percentage of the newest and cover enough time
// together. The samples grow with the run, so that a slow drift becomes visible in them sooner or
// later.
const (
	steadySamples = 25
	steadyLast    = 7
	// maxPoints limits the memory for a run. Above it every second point is dropped; 25 samples of
	// the rest are precise enough.
	maxPoints = 4096
)

// A Steadiness detects when the throughput of a run has become steady. It gets the live figures
// from time to time. The zero value needs its limits.
type Steadiness struct {
	Percent float64       // max difference of samples from the newest
	For     time.Duration // min duration of the last samples together

	began int64 // unix ns; 0 = there are no figures yet
	last  int64 // the newest figures
	ops   []steadyOp
}

// A steadyOp contains the totals of one operation over time.
type steadyOp struct {
	name   string
	points []steadyPoint
}

type steadyPoint struct {
	at             time.Duration // since the start
	bytes, objects float64
}

// Add adds the figures of one moment, in unix ns. It ignores figures that are not newer than the
// ones before.
func (s *Steadiness) Add(snap *Snapshot, now int64) {
	if now <= s.last {
		return
	}
	s.last = now
	for i := range snap.Ops {
		first := now - int64(snap.Ops[i].Elapsed)
		if s.began == 0 || first < s.began {
			s.began = first
		}
	}
	for i := range snap.Ops {
		live := &snap.Ops[i]
		op := s.op(live.Op)
		op.points = append(op.points, steadyPoint{
			at: time.Duration(now - s.began), bytes: float64(live.Bytes), objects: float64(live.Objects),
		})
		if len(op.points) > maxPoints {
			op.thin()
		}
	}
}

// Age returns the time from the first request to the newest figures.
func (s *Steadiness) Age() time.Duration { return time.Duration(s.last - s.began) }

func (s *Steadiness) op(name string) *steadyOp {
	i := slices.IndexFunc(s.ops, func(o steadyOp) bool { return o.name == name })
	if i < 0 {
		s.ops = append(s.ops, steadyOp{name: name, points: []steadyPoint{{}}})
		i = len(s.ops) - 1
	}
	return &s.ops[i]
}

// thin drops every second point, but not the newest.
func (o *steadyOp) thin() {
	kept := o.points[:0]
	for i, p := range o.points {
		if i%2 == 0 || i == len(o.points)-1 {
			kept = append(kept, p)
		}
	}
	o.points = kept
}

// Reached reports whether all operations are steady, with a description.
func (s *Steadiness) Reached() (why string, ok bool) {
	for i := range s.ops {
		text, ok := s.ops[i].steady(s.Percent, s.For)
		if !ok {
			return "", false
		}
		if why != "" {
			why += ", "
		}
		why += text
	}
	return why, why != ""
}

func (o *steadyOp) steady(percent float64, min time.Duration) (string, bool) {
	samples, length := o.samples()
	if length <= 0 || steadyLast*length < min {
		return "", false
	}
	last := samples[steadySamples-steadyLast:]
	if !isSteady(last, percent) || drifts(last) {
		return "", false
	}
	speed := last[steadyLast-1] / length.Seconds()
	return fmt.Sprintf("%s within %s %% of %s for %s", o.name, percentText(spreadOf(last)), o.rate(speed), (steadyLast * length).Round(time.Second)), true
}

// percentText formats a share in percent, with two digits unless it is tiny.
func percentText(share float64) string {
	percent, digits := 100*share, 100.
	switch {
	case percent >= 10:
		digits = 1
	case percent >= 1:
		digits = 10
	}
	return strconv.FormatFloat(math.Round(percent*digits)/digits, 'f', -1, 64)
}

// moves reports whether the operation moves payload.
func (o *steadyOp) moves() bool { return o.points[len(o.points)-1].bytes > 0 }

func (o *steadyOp) rate(perSecond float64) string {
	if o.moves() {
		return human.Rate(perSecond)
	}
	return fmt.Sprintf("%.2f obj/s", perSecond)
}

// SteadyAtEarliest returns the time after which a run may have been steady for this long, because
// only the last samples count.
func SteadyAtEarliest(min time.Duration) time.Duration {
	return min * steadySamples / steadyLast
}

// isSteady reports whether all samples are within percent of the last one.
func isSteady(samples []float64, percent float64) bool {
	newest := samples[len(samples)-1]
	return newest > 0 && spreadOf(samples) <= percent/100
}

// drifts reports whether steady samples nevertheless have a trend that is significant and large
// enough to matter.
func drifts(samples []float64) bool {
	const negligible = .005
	t := stats.TheilSen(samples)
	whole := math.Abs(t.Slope) * float64(len(samples)-1)
	return (t.Low > 0 || t.High < 0) && whole > negligible*samples[len(samples)-1]
}

// spreadOf returns the largest difference of the samples from the last one, as a share of it.
func spreadOf(samples []float64) float64 {
	newest, largest := samples[len(samples)-1], 0.
	for _, v := range samples {
		largest = max(largest, math.Abs(v-newest))
	}
	return largest / newest
}

// samples returns the throughput in 25 parts of the time so far: bytes if the operation moves any,
// otherwise objects.
func (o *steadyOp) samples() (samples [steadySamples]float64, length time.Duration) {
	newest := o.points[len(o.points)-1]
	length = newest.at / steadySamples
	if length <= 0 {
		return samples, 0
	}
	value := func(p steadyPoint) float64 { return p.objects }
	if o.moves() {
		value = func(p steadyPoint) float64 { return p.bytes }
	}
	before := 0.
	for i := range samples {
		now := o.at(time.Duration(i+1)*length, value)
		samples[i] = now - before
		before = now
	}
	return samples, length
}

// at returns the total at a time. It interpolates between two points.
func (o *steadyOp) at(t time.Duration, value func(steadyPoint) float64) float64 {
	i, exact := slices.BinarySearchFunc(o.points, t, func(p steadyPoint, t time.Duration) int { return int(p.at - t) })
	switch {
	case exact:
		return value(o.points[i])
	case i == len(o.points):
		return value(o.points[i-1])
	}
	a, b := o.points[i-1], o.points[i]
	return value(a) + (value(b)-value(a))*float64(t-a.at)/float64(b.at-a.at)
}
