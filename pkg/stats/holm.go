package stats

// A Step is the result of Holm's procedure for one p-value.
type Step struct {
	Adjusted float64 // p-value to compare with alpha
	Alpha    float64 // level that the p-value was compared with, and of the interval
	Rejected bool
}

// Holm compares p-values that are judged together: the smallest with the level for their number,
// the next with the level for one less, and so on until one is too large. This one and all larger
// ones share the level at which it stopped. With levels of alpha divided by the number, the chance
// of one or more false alarms is at most alpha.
func Holm(p []float64, level func(left int) float64) []Step {
	steps := make([]Step, len(p))
	adjusted, stopped, at := 0.0, false, 0.0
	for k, i := range ascending(p) {
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
