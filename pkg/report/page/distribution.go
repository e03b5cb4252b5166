package page

import (
	"math"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"

	"warp/internal/human"
	"warp/pkg/results"
)

// distribution has the percentile curve of all operations.
func (p *Page) distribution(g *group) {
	s := section{ID: "percentiles", Title: "Distribution of latency"}
	if c := p.percentileChart(g.ops); c != nil {
		s.Blocks = append(s.Blocks, block{Chart: c})
	}
	s.Blocks = append(s.Blocks, p.heats(g)...)
	p.section(s)
}

// A quantile is a point of a distribution.
type quantile struct{ q, ms float64 }

// curvePoints is how many points a curve has for each tenth of the requests.
const curvePoints = 20

// quantilesOf are the points of the distribution of an operation that are known:
// of its histogram, or else those of its figures.
func quantilesOf(op *results.Operation) []quantile {
	s := op.Duration
	if s == nil || s.Count == 0 {
		return nil
	}
	if h := decoded(op.DurationHDR); h != nil {
		all := []quantile{{0, s.Min}}
		last := ninesOf(1 - 1/float64(s.Count))
		for n := 1.0 / curvePoints; n < last; n += 1.0 / curvePoints {
			q := 1 - math.Pow(10, -n)
			all = append(all, quantile{q, min(max(float64(h.ValueAtQuantile(100*q))/1e6, s.Min), s.Max)})
		}
		return append(all, quantile{1 - 1/float64(s.Count), s.Max})
	}
	all := []quantile{{0, s.Min}, {.25, s.P25}, {.5, s.P50}, {.75, s.P75}, {.9, s.P90}, {.99, s.P99}}
	if s.Count >= 1000 {
		all = append(all, quantile{.999, s.P999})
	}
	return append(all, quantile{1 - 1/float64(s.Count), s.Max})
}

// maxEncoded bounds histograms in reports that may be anybody's; warp writes a few KiB.
const maxEncoded = 64 << 10

// decoded is nil where there is no histogram, or one that cannot be read.
func decoded(text string) (h *hdrhistogram.Histogram) {
	if text == "" || len(text) > maxEncoded {
		return nil
	}
	defer func() {
		if recover() != nil { // the library does not check all that it reads
			h = nil
		}
	}()
	h, err := hdrhistogram.Decode([]byte(text))
	if err != nil || h.TotalCount() == 0 {
		return nil
	}
	return h
}

// percentileScale is as in HdrHistogram: each step is a tenth of the requests
// of the one before.
func percentileScale(fewest float64) scale {
	s := scale{max: math.Max(2, -math.Log10(fewest))}
	for _, t := range []struct {
		q     float64
		label string
	}{{0, "0"}, {.5, "50 %"}, {.9, "90 %"}, {.99, "99 %"}, {.999, "99.9 %"}, {.9999, "99.99 %"}, {.99999, "99.999 %"}, {.999999, "99.9999 %"}, {.9999999, "99.99999 %"}} {
		s.tick(ninesOf(t.q), t.label)
	}
	return s
}

func ninesOf(q float64) float64 { return -math.Log10(math.Max(1-q, 1e-12)) }

// percentileChart draws the share of requests on the axis of HdrHistogram.
func (p *Page) percentileChart(ops []*results.Operation) *chart {
	var curves [][]quantile
	var names []string
	for _, op := range ops {
		curves, names = append(curves, quantilesOf(op)), append(names, visible(op.Op))
	}
	return p.curves("Latency that a share of the requests did not exceed", curves, names)
}

// curves draws distributions, one line each.
func (p *Page) curves(title string, curves [][]quantile, names []string) *chart {
	var lists [][]float64
	fewest, least, most := 1.0, math.Inf(1), 0.0
	for _, curve := range curves {
		var x []float64
		for _, k := range curve {
			x = append(x, ninesOf(k.q))
			fewest = min(fewest, math.Max(1-k.q, 1e-9))
			if k.ms > 0 {
				least, most = min(least, k.ms), max(most, k.ms)
			}
		}
		lists = append(lists, x)
	}
	if most == 0 {
		return nil
	}
	x, of := union(lists)
	c := &lineChart{title: title, unit: "ms", x: x, xs: percentileScale(fewest), ys: logMillis(least, most), xNote: "share of the requests", height: 260, still: true}
	for i, curve := range curves {
		if len(curve) == 0 {
			continue
		}
		c.desc += names[i] + ": median " + human.Millis(at(curve, .5)) + ", 99 % " + human.Millis(at(curve, .99)) + ". "
		// Between its points a line goes on, so that it is drawn without gaps.
		c.lines = append(c.lines, line{label: names[i], color: i % 8, y: between(x, of[i], curve)})
	}
	return p.draw("percentiles", c, time.Time{})
}

// at is the latency at a quantile.
func at(curve []quantile, q float64) float64 {
	for _, k := range curve {
		if k.q >= q {
			return k.ms
		}
	}
	return curve[len(curve)-1].ms
}

// between fills what is between the points of a curve, on a logarithmic scale.
func between(x []float64, of []int, curve []quantile) []float64 {
	y := make([]float64, len(x))
	for i := range y {
		y[i] = math.NaN()
	}
	for k := range curve {
		y[of[k]] = curve[k].ms
		if k == 0 || curve[k-1].ms <= 0 || curve[k].ms <= 0 {
			continue
		}
		for i := of[k-1] + 1; i < of[k]; i++ {
			share := (x[i] - x[of[k-1]]) / (x[of[k]] - x[of[k-1]])
			y[i] = math.Exp(math.Log(curve[k-1].ms)*(1-share) + math.Log(curve[k].ms)*share)
		}
	}
	return y
}

// maxCodes bounds the lines of errors; the rest is one more.
const maxCodes = 7

// errorsOverTime draws the errors of each segment by code, of all operations
// together; nil where there are none.
func (p *Page) errorsOverTime(g *group, begin time.Time, length float64) *chart {
	x, of := g.common(begin)
	totals := map[string]uint64{}
	for _, op := range g.ops {
		for i := range op.Segments {
			for code, n := range op.Segments[i].ErrorsByCode {
				totals[code] += n
			}
		}
	}
	codes := byNumber(totals)
	if len(codes) == 0 {
		return nil
	}
	rest := "others"
	slot := map[string]int{}
	var lines []line
	for i, code := range codes {
		slot[code] = min(i, maxCodes)
		if i < maxCodes {
			lines = append(lines, line{label: visible(code), color: (i + 1) % 8, y: make([]float64, len(x))})
		} else if i == maxCodes {
			lines = append(lines, line{label: rest, color: 0, y: make([]float64, len(x))})
		}
	}
	for i, op := range g.ops {
		segments := segmentsOf(op)
		for k, at := range of[i] {
			for code, n := range segments[k].ErrorsByCode {
				lines[slot[code]].y[at] += float64(n) / math.Max(segments[k].DurationS, 1e-9)
			}
		}
	}
	c := &lineChart{title: "Errors per second by code", desc: rangeOf(lines, func(v float64) string { return grouped(v) + " errors/s" }), unit: "errors/s",
		x: x, xs: seconds(length), lines: lines, marks: g.marks(begin), height: 140}
	c.ys = fromZero(largestOf(lines), grouped)
	return p.draw("errors", c, begin)
}
