package stats

// A Splitter divides a series of amounts, each moved in a time, into two parts
// with a constant rate each, by least squares weighted by time.
type Splitter struct {
	time, amount []float64 // sums before each border
	squares      float64   // sum of amount²/time
}

// NewSplitter returns a splitter of amounts that were moved in these times.
func NewSplitter(times, amounts []float64) *Splitter {
	s := &Splitter{time: make([]float64, len(times)+1), amount: make([]float64, len(times)+1)}
	for i := range times {
		s.time[i+1], s.amount[i+1] = s.time[i]+times[i], s.amount[i]+amounts[i]
		s.squares += float64(amounts[i] * amounts[i] / times[i])
	}
	return s
}

// Residual returns the weighted sum of squared distances from the two mean
// rates before and after border k. Border 0 leaves one part.
func (s *Splitter) Residual(k int) float64 {
	n := len(s.time) - 1
	return max(0, s.squares-s.part(0, k)-s.part(k, n))
}

func (s *Splitter) part(i, k int) float64 {
	if k == i {
		return 0
	}
	sum := s.amount[k] - s.amount[i]
	return float64(sum * sum / (s.time[k] - s.time[i]))
}

// The limits of a split, in variances of the residuals.
const (
	// nearlyAsGood is the 95 % quantile of the likelihood ratio of the place of
	// a split (Eo and Morley, 2015).
	nearlyAsGood = 7.35
	// significantSplit is well above the 99 % quantile of the largest F
	// statistic of all splits (about 12), as the part to split is a chosen one.
	significantSplit = 20
)

// variance estimates the variance of n values around a split.
func variance(residual float64, n int) float64 { return residual / float64(max(n-2, 1)) }

// NearlyAsGood returns by how much the residual of a split may exceed the best
// one if the data, of n values, do not tell which is right.
func NearlyAsGood(best float64, n int) float64 { return float64(nearlyAsGood * variance(best, n)) }

// SplitSignificant reports whether a split of n values can be distinguished from noise,
// given the residuals without and with it.
func SplitSignificant(whole, best float64, n int) bool {
	return whole-best > float64(significantSplit*variance(best, n)) && whole-best > 1e-9*whole
}
