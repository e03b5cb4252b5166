package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// BlockLength returns the length of the blocks that preserve the correlation of x in a circular
// block bootstrap: the automatic choice of Politis and White (2004) as corrected by Patton, Politis
// and White (2009). It is 1 if x is not correlated.
func BlockLength(x []float64) int {
	n := float64(len(x))
	if n < 4 {
		return 1
	}
	run := max(5, int(math.Log10(n))) // number of lags without correlation
	lags := min(int(math.Ceil(math.Sqrt(n)))+run, len(x)-1)
	cov := autocovariance(x, lags)
	if cov[0] <= 0 {
		return 1
	}
	m := min(2*firstUncorrelated(cov, run, 2*math.Sqrt(math.Log10(n)/n)), lags)
	g, d := 0., cov[0]
	for k := 1; k <= m; k++ {
		w := 1.
		if s := float64(k) / float64(m); s > .5 {
			w = 2 * (1 - s)
		}
		g += 2 * w * float64(k) * cov[k]
		d += 2 * w * cov[k]
	}
	if d == 0 {
		return 1
	}
	b := math.Cbrt(2 * g * g / (4. / 3 * d * d) * n)
	return int(math.Ceil(max(1, min(b, math.Ceil(min(3*math.Sqrt(n), n/3))))))
}

// autocovariance returns the autocovariance at the lags from 0.
func autocovariance(x []float64, lags int) []float64 {
	mean := meanOf(x)
	cov := make([]float64, lags+1)
	for k := range cov {
		for i := k; i < len(x); i++ {
			cov[k] += (x[i] - mean) * (x[i-k] - mean)
		}
		cov[k] /= float64(len(x))
	}
	return cov
}

// firstUncorrelated returns the first of run consecutive lags whose correlation is below the
// critical value, or the last lag if there is no such run.
func firstUncorrelated(cov []float64, run int, critical float64) int {
	quiet := 0
	for k := 1; k < len(cov); k++ {
		if math.Abs(cov[k]/cov[0]) >= critical {
			quiet = 0
			continue
		}
		if quiet++; quiet == run {
			return k - run + 1
		}
	}
	return len(cov) - 1
}

func meanOf(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// ResampleBlocks draws pieces in circular blocks, the given number of times, and each time calls f
// with how often each piece was drawn. The seed determines the draws.
func ResampleBlocks(pieces, length, resamples int, seed uint64, f func(times []int)) {
	rng := rand.New(rand.NewPCG(seed, uint64(pieces)))
	times := make([]int, pieces)
	for range resamples {
		clear(times)
		for drawn := 0; drawn < pieces; drawn += length {
			at := rng.IntN(pieces)
			for i := range min(length, pieces-drawn) {
				times[(at+i)%pieces]++
			}
		}
		f(times)
	}
}

// Central returns the interval that contains the given share of the values in its middle. It sorts
// them.
func Central(values []float64, share float64) (low, high float64) {
	slices.Sort(values)
	tail := (1 - share) / 2
	at := func(q float64) float64 {
		x := q * float64(len(values)-1)
		i := min(int(x), len(values)-2)
		return values[i] + (values[i+1]-values[i])*(x-float64(i))
	}
	if len(values) < 2 {
		return values[0], values[0]
	}
	return at(tail), at(1 - tail)
}

// Resamples is the number of resamples of a block bootstrap.
const Resamples = 1000

// RatioInterval returns the interval of sum(parts) / sum(of) with the given share, by a block bootstrap.
func RatioInterval(parts, of []float64, share float64) (low, high float64, ok bool) {
	sum, all := 0., 0.
	for i := range parts {
		sum, all = sum+parts[i], all+of[i]
	}
	if all == 0 {
		return 0, 0, false
	}
	influence := make([]float64, len(parts))
	for i := range parts {
		influence[i] = parts[i] - sum/all*of[i]
	}
	var values []float64
	ResampleBlocks(len(parts), BlockLength(influence), Resamples, 1, func(times []int) {
		sum, all := 0., 0.
		for i, n := range times {
			sum += float64(n) * parts[i]
			all += float64(n) * of[i]
		}
		if all > 0 {
			values = append(values, sum/all)
		}
	})
	return CentralOf(values, share)
}

// CentralOf is [Central] of the figures of resamples; false if too few of them have the figure.
func CentralOf(values []float64, share float64) (low, high float64, ok bool) {
	if len(values) < Resamples/2 {
		return 0, 0, false
	}
	low, high = Central(values, share)
	return low, high, true
}
