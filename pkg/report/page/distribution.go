package page

import (
	"math"
	"slices"

	"warp/pkg/report"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// distribution draws the percentile curves of all operations.
func (p *Page) distribution(g *group) {
	s := section{ID: "percentiles", Title: "Distribution of latency"}
	var names []string
	for _, op := range g.ops {
		names = append(names, op.Op)
	}
	s.chart(p.percentileChart("Latency that a share of the requests did not exceed", g.ops, names))
	p.heatMaps(&s, g)
	p.section(s)
}

// curvePoints is the number of points of a curve for each tenth of the requests.
const curvePoints = 20

// quantilesOf returns the known points of an operation's distribution: from its histogram, or else
// from its figures.
func quantilesOf(op *results.Operation) []svg.Quantile {
	if op == nil || op.Duration == nil || op.Duration.Count == 0 {
		return nil
	}
	s := op.Duration
	if h := report.Histogram(op.DurationHDR); h != nil {
		all := []svg.Quantile{{Q: 0, MS: s.Min}}
		last := svg.Nines(1 - 1/float64(s.Count))
		for n := 1.0 / curvePoints; n < last; n += 1.0 / curvePoints {
			q := 1 - math.Pow(10, -n)
			all = append(all, svg.Quantile{Q: q, MS: min(max(float64(h.ValueAtQuantile(100*q))/1e6, s.Min), s.Max)})
		}
		return append(all, svg.Quantile{Q: 1 - 1/float64(s.Count), MS: s.Max})
	}
	all := []svg.Quantile{{Q: 0, MS: s.Min}, {Q: .25, MS: s.P25}, {Q: .5, MS: s.P50}, {Q: .75, MS: s.P75}, {Q: .9, MS: s.P90}, {Q: .99, MS: s.P99}}
	if s.Count >= 1000 {
		all = append(all, svg.Quantile{Q: .999, MS: s.P999})
	}
	return append(all, svg.Quantile{Q: 1 - 1/float64(s.Count), MS: s.Max})
}

// percentileChart draws shares of requests on the axis of HdrHistogram, a line for each operation that is not nil.
func (p *Page) percentileChart(title string, ops []*results.Operation, names []string) *chart {
	var curves [][]svg.Quantile
	for _, op := range ops {
		curves = append(curves, quantilesOf(op))
	}
	c := svg.Percentiles(title, curves, names)
	if c == nil {
		return nil
	}
	return p.draw("percentiles", c)
}

// maxCodes limits the lines of errors. One more line contains the rest.
const maxCodes = 7

// errorsOverTime draws the errors of each segment by code, for all operations together, or returns
// nil if there are none.
func (p *Page) errorsOverTime(g *group) *chart {
	begin, _ := g.length()
	x, of := g.common(begin)
	totals := map[string]uint64{}
	for _, op := range g.ops {
		for i := range op.Segments {
			for code, n := range op.Segments[i].ErrorsByCode {
				totals[code] += n
			}
		}
	}
	codes := report.MostFrequent(totals)
	if len(codes) == 0 {
		return nil
	}
	rest := "others"
	slot := map[string]int{}
	var lines []svg.Line
	for i, code := range codes {
		slot[code] = min(i, maxCodes)
		if i < maxCodes {
			lines = append(lines, svg.Line{Label: code, Color: (i + 1) % 8, Y: make([]float64, len(x))})
		} else if i == maxCodes {
			lines = append(lines, svg.Line{Label: rest, Color: 0, Y: make([]float64, len(x))})
		}
	}
	for i, op := range g.ops {
		segments := segmentsOf(op)
		for k, at := range of[i] {
			for code, n := range segments[k].ErrorsByCode {
				lines[slot[code]].Y[at] += float64(n) / math.Max(segments[k].DurationS, 1e-9)
			}
		}
	}
	c := &svg.Chart{Title: "Errors per second by code", Desc: rangeOf(lines, func(v float64) string { return svg.Number(v) + " errors/s" }), Lines: lines, Height: 140}
	c.YScale = svg.FromZero(svg.Highest(lines), svg.Number)
	return p.drawTimed("errors", c, g.timeline(x), seriesOf(lines, svg.Number, slices.Max[[]float64]))
}
