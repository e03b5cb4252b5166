package stats

import (
	"math"
	"slices"
)

// A Trend is a straight line through values at equal distances.
type Trend struct {
	Slope     float64 // per step
	Low, High float64 // 95 % interval of the slope
	Level     float64 // at the first value
}

// At returns the line at value i.
func (t *Trend) At(i int) float64 { return t.Level + t.Slope*float64(i) }

// TheilSen returns the trend of y: the median of the slopes between all pairs, with Sen's interval.
// As in Hamed and Rao (1998), the correlation of the values widens the variance of Kendall's
// statistic. y needs at least two values.
func TheilSen(y []float64) Trend {
	n := len(y)
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range y {
		for j := range i {
			slopes = append(slopes, (y[i]-y[j])/float64(i-j))
		}
	}
	slices.Sort(slopes)
	t := Trend{Slope: Median(slopes)}
	rest := make([]float64, n)
	for i := range y {
		rest[i] = y[i] - t.Slope*float64(i)
	}
	half := 1.959964 * math.Sqrt(kendallVariance(y)*varianceFactor(rest))
	last := float64(len(slopes) - 1)
	t.Low = slopes[int(max(math.Round((float64(len(slopes))-half)/2), 1))-1]
	t.High = slopes[int(min(math.Round((float64(len(slopes))+half)/2), last))]
	t.Level = medianOf(rest)
	return t
}

// Points are values and where each of them was taken, such as times in seconds.
type Points struct{ At, Values []float64 }

// CommonSlope returns the slope that several sets of points have in common: the median of the slopes
// between all pairs of points of the same set, so that a step from one set to another does not count.
// The interval is Sen's at the given level, from the sum of Kendall's statistics of all sets, whose
// points must be independent. ok is false if there are too few points for that level.
func CommonSlope(level float64, sets ...Points) (slope, low, high float64, ok bool) {
	var slopes []float64
	variance := 0.0
	for _, s := range sets {
		for i := range s.At {
			for k := range i {
				if s.At[i] != s.At[k] {
					slopes = append(slopes, (s.Values[i]-s.Values[k])/(s.At[i]-s.At[k]))
				}
			}
		}
		variance += kendallVariance(s.Values)
	}
	slices.Sort(slopes)
	half := math.Sqrt2 * math.Erfinv(level) * math.Sqrt(variance)
	from := int(math.Round((float64(len(slopes))-half)/2)) - 1
	to := int(math.Round((float64(len(slopes)) + half) / 2))
	if from < 0 || to >= len(slopes) {
		return 0, 0, 0, false
	}
	return Median(slopes), slopes[from], slopes[to], true
}

// kendallVariance returns the variance of Kendall's S without a trend, corrected for ties in y.
func kendallVariance(y []float64) float64 {
	n := float64(len(y))
	v := n * (n - 1) * (2*n + 5)
	_, ties := midranks(y)
	for _, t := range ties {
		k := float64(t)
		v -= k * (k - 1) * (2*k + 5)
	}
	return v / 18
}

// varianceFactor returns the factor by which the correlation of the ranks widens the variance. It is at
// least 1.
func varianceFactor(x []float64) float64 {
	n := float64(len(x))
	if n < 4 {
		return 1
	}
	ranks, _ := midranks(x)
	cov := autocovariance(ranks, len(x)-3)
	if cov[0] <= 0 {
		return 1
	}
	sum, critical := 0., 1.96/math.Sqrt(n)
	for k := 1; k < len(cov); k++ {
		if r, left := cov[k]/cov[0], n-float64(k); math.Abs(r) > critical {
			sum += left * (left - 1) * (left - 2) * r
		}
	}
	return max(1, 1+2*sum/(n*(n-1)*(n-2)))
}

func medianOf(x []float64) float64 { return Median(slices.Sorted(slices.Values(x))) }

// Variation returns the coefficient of variation: the standard deviation of a sample divided by its
// mean, or 0 if the mean is 0.
func Variation(x []float64) float64 {
	mean, squares := meanOf(x), 0.
	if mean == 0 || len(x) < 2 {
		return 0
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares/float64(len(x)-1)) / mean
}

// Spread returns the median distance from the median, scaled to equal the standard deviation of
// normal values.
func Spread(x []float64) float64 {
	m := medianOf(x)
	far := make([]float64, len(x))
	for i, v := range x {
		far[i] = math.Abs(v - m)
	}
	return 1.4826 * medianOf(far)
}
