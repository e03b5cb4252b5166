package sweep

import (
	"errors"
	"math"
)

// A Law is the Universal Scalability Law with its parameters. The throughput of n workers is
//
//	X(n) = γn / (1 + α(n−1) + βn(n−1))
type Law struct {
	Alpha float64 `json:"alpha"` // contention: the share of the work that workers wait for each other
	Beta  float64 `json:"beta"`  // coherence: the cost of each pair of workers
	Gamma float64 `json:"gamma"` // throughput of one worker
	// Peak is the number of workers with the highest throughput, which is PeakThroughput; 0 if there is none.
	Peak           float64 `json:"peak_concurrency,omitempty"`
	PeakThroughput float64 `json:"peak_throughput,omitempty"`
	Error          float64 `json:"error"` // residual standard error, in the unit of the throughput
	ErrorPercent   float64 `json:"error_percent"`
}

// At returns the throughput of n workers.
func (l *Law) At(n float64) float64 {
	return l.Gamma * n / (1 + l.Alpha*(n-1) + l.Beta*n*(n-1))
}

// errNoFit says that the values do not follow the law.
var errNoFit = errors.New("the values do not follow the Universal Scalability Law")

// Fit fits the law to the throughput of n workers, with least squares, by the method of Levenberg and Marquardt.
// Parameters are at least 0.
func Fit(n, throughput []float64) (*Law, error) {
	if len(n) != len(throughput) || len(n) < 4 {
		return nil, errors.New("the Universal Scalability Law needs at least 4 points")
	}
	p := [3]float64{.01, 1e-4, 0}
	for i := range n {
		if !(n[i] > 0) || !(throughput[i] > 0) || math.IsInf(n[i]+throughput[i], 0) {
			return nil, errNoFit
		}
		p[2] = math.Max(p[2], throughput[i]/n[i])
	}
	scale := p[2] // so that all parameters are of the same order as their steps
	best := squares(p, n, throughput)
	damping := 1e-3
	for range 500 {
		a, b := normal(p, n, throughput)
		for k := range 3 {
			a[k][k] *= 1 + damping
		}
		step, ok := solve(a, b)
		next := p
		for k := range 3 {
			next[k] = math.Max(0, p[k]+step[k])
		}
		if sum := squares(next, n, throughput); ok && sum < best {
			done := best-sum <= 1e-14*best
			p, best, damping = next, sum, math.Max(damping/3, 1e-12)
			if done {
				break
			}
			continue
		}
		if damping *= 4; damping > 1e12 {
			break
		}
	}
	l := &Law{Alpha: p[0], Beta: p[1], Gamma: p[2]}
	l.Error = math.Sqrt(best / float64(len(n)-3))
	mean := 0.0
	for _, x := range throughput {
		mean += x / float64(len(n))
	}
	l.ErrorPercent = 100 * l.Error / mean
	if !(l.Gamma > 0) || l.Gamma > 1e3*scale || math.IsNaN(best) {
		return nil, errNoFit
	}
	if l.Beta > 0 && l.Alpha < 1 {
		l.Peak = math.Sqrt((1 - l.Alpha) / l.Beta)
		l.PeakThroughput = l.At(l.Peak)
	}
	return l, nil
}

// squares returns the sum of squared residuals.
func squares(p [3]float64, n, x []float64) (sum float64) {
	l := Law{Alpha: p[0], Beta: p[1], Gamma: p[2]}
	for i := range n {
		r := x[i] - l.At(n[i])
		sum += r * r
	}
	return sum
}

// normal returns the normal equations of a step from p.
func normal(p [3]float64, n, x []float64) (a [3][3]float64, b [3]float64) {
	l := Law{Alpha: p[0], Beta: p[1], Gamma: p[2]}
	for i, n := range n {
		below := 1 + l.Alpha*(n-1) + l.Beta*n*(n-1)
		at := l.Gamma * n / below
		slope := [3]float64{-at * (n - 1) / below, -at * n * (n - 1) / below, n / below}
		for j := range 3 {
			b[j] += slope[j] * (x[i] - at)
			for k := range 3 {
				a[j][k] += slope[j] * slope[k]
			}
		}
	}
	return a, b
}

// solve solves three linear equations by elimination with pivots.
func solve(a [3][3]float64, b [3]float64) (x [3]float64, ok bool) {
	for i := range 3 {
		pivot := i
		for j := i + 1; j < 3; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[pivot][i]) {
				pivot = j
			}
		}
		a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
		if a[i][i] == 0 {
			return x, false
		}
		for j := i + 1; j < 3; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < 3; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	for i := 2; i >= 0; i-- {
		sum := b[i]
		for k := i + 1; k < 3; k++ {
			sum -= a[i][k] * x[k]
		}
		x[i] = sum / a[i][i]
		if math.IsNaN(x[i]) || math.IsInf(x[i], 0) {
			return x, false
		}
	}
	return x, true
}
