package generator

import (
	"math"
	"math/bits"
)

// A logSizes is --obj.randsize with one size: objects spread evenly over the eight doublings below max. Seven
// doublings (max/2, max] down to (max/128, max/64] get an eighth of the objects each; the lowest eighth is uniform
// over 1..max/128, so that there are small objects without being mostly small objects. A maximum below 128 bytes
// has fewer doublings.
//
// Within a doubling the density falls as 1/x. That alone has the mean
//
//	(7/8 · (1-1/128)/ln 128 + 1/8 · 1/256) · max = 0.179416 · max
//
// while 0.179151 is the factor that users compute with, and no choice of the lowest part gives it without leaving a
// doubling empty. So the density falls a trace faster (see tilt): each doubling keeps its eighth, and the mean is
// the documented one to six digits.
type logSizes struct {
	max       int64
	doublings int64 // above the lowest part
}

// maxDoublings is the number of doublings above the lowest part.
const maxDoublings = 7

// tilt is the share of draws that must pass the test for 1/x twice, which makes the density of all draws
// (1-tilt)/x + tilt·lo/x² (lo: lower border of the doubling). With m the mean in units of lo, the mean of all sizes
// is (m·127/128 + 1/256)/8 · max, so the documented factor wants m = 1.440556; and
// m = (1-tilt + tilt·ln 2) / ((1-tilt)·ln 2 + tilt/2).
const tilt = tiltPPB / 1e9

const (
	tiltPPB   = 51_814_918
	tiltBelow = tiltPPB << 64 / 1_000_000_000 // as a threshold for 64 random bits
)

func newLogSizes(maximum int64) logSizes {
	doublings := int64(bits.Len64(uint64(maximum))) - 1
	return logSizes{max: maximum, doublings: min(doublings, maxDoublings)}
}

func (s logSizes) Next(r *Stream) int64 {
	i := below(r, s.doublings+1)
	if i == s.doublings {
		return 1 + below(r, s.max>>i)
	}
	return drawTilted(r, s.max>>(i+1), s.max>>i)
}

func (s logSizes) Min() int64     { return 1 }
func (s logSizes) Max() int64     { return s.max }
func (s logSizes) String() string { return FormatSize(s.max) }

func (s logSizes) Mean() float64 {
	sum := float64(1+s.max>>s.doublings) / 2
	for i := range s.doublings {
		sum += meanTilted(s.max>>(i+1), s.max>>i)
	}
	return sum / float64(s.doublings+1)
}

// drawTilted draws from (lo, hi], where hi is about 2·lo. Rejection needs only integers, so the
// result is the same on every platform, unlike floating-point logarithms. It takes 1.4 tries on
// average.
func drawTilted(r *Stream, lo, hi int64) int64 {
	for {
		x := drawLog(r, lo, hi)
		if r.Uint64() >= tiltBelow || below(r, x) <= lo {
			return x
		}
	}
}

// drawLog draws from (lo, hi] with a density that falls as 1/x.
func drawLog(r *Stream, lo, hi int64) int64 {
	for {
		x := lo + 1 + below(r, hi-lo)
		if below(r, x) <= lo {
			return x
		}
	}
}

func meanTilted(lo, hi int64) float64 {
	return meanOf(lo, hi, func(x float64) float64 { return (1-tilt)/x + tilt*float64(lo+1)/(x*x) })
}

// meanOf returns the mean of the sizes in (lo, hi] by numeric integration: exact for few sizes, to
// six digits for many.
func meanOf(lo, hi int64, density func(float64) float64) float64 {
	steps := min(hi-lo, 4096)
	width := float64(hi-lo) / float64(steps)
	var mass, moment float64
	for i := range steps {
		x := float64(lo) + 0.5 + (float64(i)+0.5)*width
		mass += density(x)
		moment += x * density(x)
	}
	return moment / mass
}

// A rangeSizes is --obj.randsize with MIN,MAX: the same number of objects in each doubling from max
// down to min, however many doublings there are. A doubling that min cuts gets its share. There is
// no uniform lowest part, because a user who sets a minimum has chosen how small objects get.
type rangeSizes struct{ min, max int64 }

// Next draws a doubling and a size, and repeats if the size is below min. The highest doubling is
// always entirely above min, or else the only one, so at least every second draw is valid.
func (s rangeSizes) Next(r *Stream) int64 {
	if s.min > s.max>>1 {
		return drawLog(r, s.min-1, s.max)
	}
	doublings := int64(bits.Len64(uint64(s.max / s.min)))
	for {
		i := below(r, doublings)
		if x := drawLog(r, s.max>>(i+1), s.max>>i); x >= s.min {
			return x
		}
	}
}

func (s rangeSizes) Min() int64     { return s.min }
func (s rangeSizes) Max() int64     { return s.max }
func (s rangeSizes) String() string { return FormatSize(s.min) + "," + FormatSize(s.max) }

func (s rangeSizes) Mean() float64 {
	if s.max == s.min {
		return float64(s.max)
	}
	low, high := float64(s.min)-0.5, float64(s.max)+0.5
	return (high - low) / math.Log(high/low)
}
