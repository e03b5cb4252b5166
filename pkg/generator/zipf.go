package generator

import "math"

// A Zipf draws ranks from a Zipf distribution: rank k, from 0, has a probability in proportion to
// 1/(k+1)^exponent. The number of ranks may differ from draw to draw. It has no table and takes
// constant time: rejection-inversion (Hörmann and Derflinger, ACM TOMACS 6(3), 1996) draws from the
// area below a curve through the probabilities, and seldom has to try again.
type Zipf struct {
	exponent float64
	first    float64 // integral from 1 up to 1.5, minus the probability of the first rank
	squeeze  float64 // ranks at most this far above the drawn number need no second look
}

// NewZipf returns the distribution with an exponent of at least 0, which is the uniform one.
func NewZipf(exponent float64) Zipf {
	z := Zipf{exponent: exponent}
	z.first = z.integral(1.5) - 1
	z.squeeze = 2 - z.inverse(z.integral(2.5)-z.weight(2))
	return z
}

// Rank draws one of n ranks, from 0.
func (z *Zipf) Rank(r *Stream, n int) int {
	last := z.integral(float64(n) + 0.5)
	for {
		area := last + r.Float64()*(z.first-last)
		x := z.inverse(area)
		k := min(max(math.Floor(x+0.5), 1), float64(n))
		if k-x <= z.squeeze || area >= z.integral(k+0.5)-z.weight(k) {
			return int(k) - 1
		}
	}
}

// weight is x^-exponent.
func (z *Zipf) weight(x float64) float64 { return math.Exp(-z.exponent * math.Log(x)) }

// integral is the integral of weight from 1 to x: (x^(1-exponent) - 1) / (1-exponent), or ln x if
// the exponent is 1.
func (z *Zipf) integral(x float64) float64 {
	log := math.Log(x)
	return over((1-z.exponent)*log, math.Expm1) * log
}

// inverse is the inverse of integral.
func (z *Zipf) inverse(y float64) float64 {
	return math.Exp(over(max((1-z.exponent)*y, -1), math.Log1p) * y)
}

// over returns f(x)/x, where f(x) is about x - x²/2 or x + x²/2 near 0.
func over(x float64, f func(float64) float64) float64 {
	if math.Abs(x) < 1e-300 {
		return 1
	}
	return f(x) / x
}
