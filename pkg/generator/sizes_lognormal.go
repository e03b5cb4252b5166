package generator

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// lognormalKind begins the specification of lognormal sizes.
const lognormalKind = "lognormal"

// maxSigma limits sigma. At 10, the largest of a thousand sizes is some 10^13 times the median.
const maxSigma = 10

// A lognormalSizes draws sizes whose logarithms have a normal distribution. Larger sizes than max
// become max. Draws are stratified by quantile, because few large objects make up most of the data:
// at sigma = 2, the mean of 21,000 independent draws is still off by 5 %.
type lognormalSizes struct {
	median, max int64
	sigma       float64 // standard deviation of the natural logarithm
}

func parseLognormal(spec, rest string) (Sizes, error) {
	var s lognormalSizes
	given := make(map[string]bool)
	for item := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		var err error
		switch {
		case given[name]:
			err = errors.New("is given twice")
		case name == "median":
			s.median, err = ParseSize(value)
		case name == "max":
			s.max, err = ParseSize(value)
		case name == "sigma":
			s.sigma, err = parseSigma(value)
		default:
			err = errors.New("is not median, sigma or max")
		}
		if err != nil {
			return nil, fmt.Errorf("sizes %q: %q: %w", spec, item, err)
		}
		given[name] = true
	}
	switch {
	case len(given) < 3:
		return nil, fmt.Errorf("sizes %q: want lognormal:median=SIZE,sigma=NUMBER,max=SIZE", spec)
	case s.median < 1:
		return nil, fmt.Errorf("sizes %q: the median must be at least 1 byte", spec)
	case s.max < s.median:
		return nil, fmt.Errorf("sizes %q: the maximum is smaller than the median", spec)
	}
	return s, nil
}

func parseSigma(text string) (float64, error) {
	sigma, err := strconv.ParseFloat(text, 64)
	if err != nil || !(sigma > 0 && sigma <= maxSigma) {
		return 0, fmt.Errorf("sigma is not a number above 0 and up to %d", maxSigma)
	}
	return sigma, nil
}

// Next computes the size at a quantile with floating-point functions, which may differ in the last
// bit between processors. Sizes of 2^50 bytes and more may then differ by a byte.
func (s lognormalSizes) Next(r *Stream) int64 { return s.quantile(r.stratified()) }

func (s lognormalSizes) quantile(u float64) int64 {
	normal := math.Sqrt2 * math.Erfinv(2*u-1)
	size := math.Round(float64(s.median) * math.Exp(s.sigma*normal))
	return int64(min(max(size, 1), float64(s.max)))
}

func (s lognormalSizes) Min() int64 { return 1 }
func (s lognormalSizes) Max() int64 { return s.max }

// Mean is the mean of the sizes below the maximum, and of the maximum for the rest.
func (s lognormalSizes) Mean() float64 {
	cut := math.Log(float64(s.max)/float64(s.median)) / s.sigma
	below := float64(s.median) * math.Exp(s.sigma*s.sigma/2) * normalBelow(cut-s.sigma)
	return below + float64(s.max)*normalBelow(-cut)
}

// normalBelow returns the probability that a standard normal value is below x.
func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func (s lognormalSizes) String() string {
	return fmt.Sprintf("%s:median=%s,sigma=%g,max=%s", lognormalKind, FormatSize(s.median), s.sigma, FormatSize(s.max))
}
