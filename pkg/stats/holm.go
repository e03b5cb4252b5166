package stats

import (
	"cmp"
	"slices"
)

// A Step is what Holm's procedure makes of one p-value.
type Step struct {
	Adjusted float64 // p-value that may be compared with alpha
	Alpha    float64 // that the p-value was compared with; intervals belong to this level
	Rejected bool
}

// Holm compares p-values that are judged together, so that the chance of one
// false alarm or more is at most alpha: the smallest with alpha by their number,
// the next with alpha by one less, and so on until one is too large. That one
// and all larger ones share the level at which it stopped.
func Holm(p []float64, alpha float64) []Step {
	return HolmLevels(p, func(left int) float64 { return alpha / float64(left) })
}

// HolmLevels is Holm with another level for each number of p-values that are
// left. Adjusted values are the same as plain Holm's.
func HolmLevels(p []float64, level func(left int) float64) []Step {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	steps := make([]Step, len(p))
	adjusted, stopped, at := 0.0, false, 0.0
	for k, i := range order {
		left := len(p) - k
		adjusted = max(adjusted, min(1, p[i]*float64(left)))
		if !stopped {
			at = level(left)
			stopped = p[i] > at*(1+1e-9)
		}
		steps[i] = Step{Adjusted: adjusted, Alpha: at, Rejected: !stopped}
	}
	return steps
}
