package sweep

import (
	"cmp"
	"slices"
)

// A Conclusion is about the points along the axis of concurrency, with one value of the other axis if there are two.
type Conclusion struct {
	At      string `json:"at,omitempty"` // the value of the other axis, such as obj.size=4KiB
	Metric  string `json:"metric"`       // throughput, or objs if there is no payload
	Points  int    `json:"points"`       // from which the conclusion is drawn
	LeftOut int    `json:"left_out"`     // points
	Best    *Level `json:"best"`         // with the highest median; null if there are fewer than three points
	// Enough is the smallest concurrency whose median is at least 95 % of the best one.
	Enough *Level `json:"enough"`
	// Neighbours are the concurrencies next to it whose ranges overlap with its range, so that the runs cannot tell them apart.
	Neighbours []Level `json:"neighbours"`
	Half       *Level  `json:"half"`     // half of that concurrency; null if it was not measured
	Growing    bool    `json:"growing"`  // no smaller concurrency than the largest one is enough, so that a larger one may be better
	Declined   bool    `json:"declined"` // the throughput of the largest concurrency is more than 5 % below the best, with ranges that do not overlap
	Law        *Law    `json:"universal_scalability_law"`
	NoLaw      string  `json:"no_law,omitempty"` // why it was not fitted
}

// A Level is a concurrency with its figures.
type Level struct {
	Concurrency float64  `json:"concurrency"`
	Median      float64  `json:"median"`
	Min         float64  `json:"min"`
	Max         float64  `json:"max"`
	P99         *float64 `json:"p99_ms"` // median; null if unknown
	ClientsP99  bool     `json:"p99_is_the_clients,omitempty"`
}

const (
	enough       = .95 // of the best median
	declined     = .95
	minConclude  = 3
	minLawPoints = 6
)

// conclude draws the conclusions about each line of points along the axis of concurrency.
func (r *Result) conclude(rate string) {
	axis := slices.IndexFunc(r.Axes, func(a Axis) bool { return a.Flag == Concurrency })
	if axis < 0 || len(r.Axes[axis].Values) < minConclude {
		return
	}
	for _, line := range Lines(r.Axes, axis) {
		c := Conclusion{Metric: rate, Neighbours: []Level{}}
		if len(r.Axes) > 1 {
			other := 1 - axis
			c.At = r.Axes[other].Flag + "=" + r.Points[line[0]].Values[other]
		}
		var levels []Level
		measured := 0
		for i, point := range line {
			p := &r.Points[point]
			if !p.throughput.Known() {
				continue
			}
			if measured++; p.LeftOut != "" {
				c.LeftOut++
				continue
			}
			levels = append(levels, levelOf(r.Axes[axis].Numbers[i], p))
		}
		if measured == 0 {
			continue
		}
		slices.SortFunc(levels, func(a, b Level) int { return cmp.Compare(a.Concurrency, b.Concurrency) })
		c.draw(levels)
		r.Conclusions = append(r.Conclusions, c)
	}
}

// LineAxis returns the axis along which charts have lines: the concurrency, or the one with more values.
func LineAxis(axes []Axis) int {
	best := 0
	for i, a := range axes {
		if a.Flag == Concurrency {
			return i
		}
		if len(a.Values) > len(axes[best].Values) {
			best = i
		}
	}
	return best
}

// Lines returns the points along an axis, one list for each value of the other axis.
func Lines(axes []Axis, axis int) (lines [][]int) {
	n := Points(axes) / len(axes[axis].Values)
	lines = make([][]int, n)
	for p := range Points(axes) {
		line := 0
		for i, k := range Place(axes, p) {
			if i != axis {
				line = k
			}
		}
		lines[line] = append(lines[line], p)
	}
	return lines
}

func levelOf(concurrency float64, p *Point) Level {
	l := Level{Concurrency: concurrency, Median: p.throughput.Median, Min: p.throughput.Min, Max: p.throughput.Max}
	if p.p99.Known() {
		l.P99, l.ClientsP99 = &p.p99.Median, p.p99.Client != ""
	}
	return l
}

func (l *Level) overlaps(o *Level) bool { return l.Min <= o.Max && o.Min <= l.Max }

// draw draws the conclusions from levels in ascending order.
func (c *Conclusion) draw(levels []Level) {
	c.Points = len(levels)
	if c.Points < minConclude {
		c.NoLaw = "too few points"
		return
	}
	best := 0
	for i := range levels {
		if levels[i].Median > levels[best].Median {
			best = i
		}
	}
	last := len(levels) - 1
	at := slices.IndexFunc(levels, func(l Level) bool { return l.Median >= enough*levels[best].Median })
	c.Best, c.Enough = &levels[best], &levels[at]
	c.Growing = at == last
	c.Declined = levels[last].Median < declined*levels[best].Median && !levels[last].overlaps(&levels[best])
	for i := at - 1; i >= 0 && levels[i].overlaps(&levels[at]); i-- {
		c.Neighbours = slices.Insert(c.Neighbours, 0, levels[i])
	}
	for i := at + 1; i <= last && levels[i].overlaps(&levels[at]); i++ {
		c.Neighbours = append(c.Neighbours, levels[i])
	}
	if i := slices.IndexFunc(levels, func(l Level) bool { return 2*l.Concurrency == levels[at].Concurrency }); i >= 0 {
		c.Half = &levels[i]
	}
	c.fit(levels)
}

// fit fits the Universal Scalability Law if a decline was measured: without one, the peak of the fit is a guess.
func (c *Conclusion) fit(levels []Level) {
	switch {
	case !c.Declined:
		c.NoLaw = "no decline was measured"
		return
	case len(levels) < minLawPoints:
		c.NoLaw = "fewer than six points"
		return
	}
	var n, x []float64
	for _, l := range levels {
		n, x = append(n, l.Concurrency), append(x, l.Median)
	}
	law, err := Fit(n, x)
	if err != nil {
		c.NoLaw = err.Error()
		return
	}
	c.Law = law
}
