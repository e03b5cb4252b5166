package svg

import (
	"math"

	"warp/internal/human"
)

// A Quantile is a point of a distribution: a share of the requests took up to MS milliseconds.
type Quantile struct{ Q, MS float64 }

// Percentiles returns a chart of distributions on the axis of HdrHistogram. It returns nil if
// they have no points above 0.
func Percentiles(title string, curves [][]Quantile, names []string) *Chart {
	var lists [][]float64
	fewest, lowest, highest := 1.0, math.Inf(1), 0.0
	for _, curve := range curves {
		var x []float64
		for _, k := range curve {
			x = append(x, Nines(k.Q))
			fewest = min(fewest, math.Max(1-k.Q, 1e-9))
			if k.MS > 0 {
				lowest, highest = min(lowest, k.MS), max(highest, k.MS)
			}
		}
		lists = append(lists, x)
	}
	if highest == 0 {
		return nil
	}
	x, of := Union(lists)
	c := &Chart{Title: title, X: x, XScale: percentileScale(fewest), YScale: LogMillis(lowest, highest), XNote: "share of the requests", Height: 260}
	for i, curve := range curves {
		if len(curve) == 0 {
			continue
		}
		c.Desc += names[i] + ": median " + human.Millis(at(curve, .5)) + ", 99 % " + human.Millis(at(curve, .99)) + ". "
		// Interpolate between its points, so that the line has no gaps.
		c.Lines = append(c.Lines, Line{Label: names[i], Color: i % 8, Y: between(x, of[i], curve)})
	}
	return c
}

// percentileScale returns a scale as in HdrHistogram: at each step, a tenth of the
// requests is left.
func percentileScale(fewest float64) Scale {
	s := Scale{max: math.Max(2, -math.Log10(fewest))}
	for _, t := range []struct {
		q     float64
		label string
	}{{0, "0"}, {.5, "50 %"}, {.9, "90 %"}, {.99, "99 %"}, {.999, "99.9 %"}, {.9999, "99.99 %"}, {.99999, "99.999 %"}, {.999999, "99.9999 %"}, {.9999999, "99.99999 %"}} {
		s.tick(Nines(t.q), t.label)
	}
	return s
}

// Nines returns the place of a quantile on the axis of HdrHistogram.
func Nines(q float64) float64 { return -math.Log10(math.Max(1-q, 1e-12)) }

// at returns the latency at a quantile.
func at(curve []Quantile, q float64) float64 {
	for _, k := range curve {
		if k.Q >= q {
			return k.MS
		}
	}
	return curve[len(curve)-1].MS
}

// between interpolates a curve at all x, on a logarithmic scale.
func between(x []float64, of []int, curve []Quantile) []float64 {
	y := make([]float64, len(x))
	for i := range y {
		y[i] = math.NaN()
	}
	for k := range curve {
		y[of[k]] = curve[k].MS
		if k == 0 || curve[k-1].MS <= 0 || curve[k].MS <= 0 {
			continue
		}
		for i := of[k-1] + 1; i < of[k]; i++ {
			share := (x[i] - x[of[k-1]]) / (x[of[k]] - x[of[k-1]])
			y[i] = math.Exp(math.Log(curve[k-1].MS)*(1-share) + math.Log(curve[k].MS)*share)
		}
	}
	return y
}
