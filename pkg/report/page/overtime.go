package page

import (
	"fmt"
	"math"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// middles returns the middles of segments, in seconds since begin, because the figures of a segment
// are about all of it.
func middles(segments []results.Segment, begin time.Time) []float64 {
	x := make([]float64, len(segments))
	for i := range segments {
		s := &segments[i]
		x[i] = s.Start.Sub(begin).Seconds() + s.DurationS/2
	}
	return x
}

// segmentsOf returns the segments of an operation without short ones at either end, whose rate says
// little.
func segmentsOf(op *results.Operation) []results.Segment {
	s := op.Segments
	for len(s) > 2 && s[0].DurationS < op.SegmentS/2 {
		s = s[1:]
	}
	for len(s) > 2 && s[len(s)-1].DurationS < op.SegmentS/2 {
		s = s[:len(s)-1]
	}
	return s
}

// common returns the middles of all segments of the operations. The operations may have different
// segments, because one with few requests has a separate window.
func (g *group) common(begin time.Time) (x []float64, of [][]int) {
	var lists [][]float64
	for _, op := range g.ops {
		lists = append(lists, middles(segmentsOf(op), begin))
	}
	return svg.Union(lists)
}

// interpolated puts values at their positions, and interpolates between them where only other lines have points. Elsewhere it leaves gaps.
func interpolated(x []float64, at []int, value func(i int) float64) []float64 {
	y := unknown(len(x))
	for i, k := range at {
		y[k] = value(i)
	}
	for k := 1; k < len(at); k++ {
		a, b := at[k-1], at[k]
		if math.IsNaN(y[a]) || math.IsNaN(y[b]) {
			continue
		}
		for i := a + 1; i < b; i++ {
			y[i] = y[a] + (y[b]-y[a])*(x[i]-x[a])/(x[b]-x[a])
		}
	}
	return y
}

// throughput draws throughput over time: bytes, if any are moved, and objects.
func (p *Page) throughput(g *group) {
	begin, _ := g.length()
	x, of := g.common(begin)
	if len(x) == 0 {
		return
	}
	s := section{ID: "throughput", Title: "Throughput over time"}
	if how := stabilitySentences(g); len(how) > 0 {
		s.Lead = []string{strings.Join(how, " ")}
	}
	var bytes, objects []svg.Line
	for i, op := range g.ops {
		segments := segmentsOf(op)
		name := op.Op
		if op.HasBytes() {
			bytes = append(bytes, svg.Line{Label: name, Color: i % 8, Y: interpolated(x, of[i], func(k int) float64 { return segments[k].BytesPerS })})
		}
		objects = append(objects, svg.Line{Label: name, Color: i % 8, Y: interpolated(x, of[i], func(k int) float64 { return segments[k].ObjectsPerS })})
	}
	t := g.timeline(x)
	per := "Each point is a segment of " + human.Seconds(g.ops[0].SegmentS) + "."
	several := len(objects) > len(bytes) || g.ops[0].ObjectsPerOp.Max > 1
	charts := 1
	if several && len(bytes) > 0 {
		charts = 2
	}
	if len(bytes) > 0 {
		desc := per + " " + rangeOf(bytes, human.Rate)
		var more []series
		if !several {
			for _, c := range seriesOf(objects, svg.Number, mean) {
				c.label += " objects/s"
				more = append(more, c)
			}
		}
		s.chart(p.rateChart("throughput", "Payload", desc, charts, t, bytes, true, more...))
	}
	if several {
		kind := "objects"
		if len(bytes) == 0 {
			kind = "throughput"
		}
		desc := per + " " + rangeOf(objects, objectsText)
		s.chart(p.rateChart(kind, "", desc, charts, t, objects, false))
	}
	p.section(s)
}

// rangeOf says in words what the lines show.
func rangeOf(lines []svg.Line, show func(float64) string) string {
	text := ""
	for _, l := range lines {
		lowest, highest := math.Inf(1), math.Inf(-1)
		for _, v := range l.Y {
			if !math.IsNaN(v) {
				lowest, highest = min(lowest, v), max(highest, v)
			}
		}
		if lowest <= highest {
			text += fmt.Sprintf("%s: %s to %s. ", l.Label, show(lowest), show(highest))
		}
	}
	return text
}

func stabilitySentences(g *group) (all []string) {
	for _, op := range g.ops {
		if op.Stability == nil || op.Stability.State == "unknown" {
			continue
		}
		sentence := human.UpperFirst(op.Stability.Sentence) + "."
		if len(g.ops) > 1 {
			sentence = op.Op + ": " + op.Stability.Sentence + "."
		}
		all = append(all, sentence)
	}
	return all
}

// heightOf is lower for one of several charts of the same kind.
func heightOf(charts int) int {
	if charts > 1 {
		return 130
	}
	return 220
}

// latency draws latency over time, one chart for each operation.
func (p *Page) latency(g *group) {
	begin, _ := g.length()
	s := section{ID: "latency", Title: "Latency over time"}
	for i, op := range g.ops {
		segments := op.Segments
		value := func(of func(*results.SegmentStats) float64) []float64 {
			y := unknown(len(segments))
			for k := range segments {
				if d := segments[k].Duration; d != nil {
					y[k] = of(d)
				}
			}
			return y
		}
		lines := []svg.Line{
			{Label: "p50", Color: i % 8, Y: value(func(s *results.SegmentStats) float64 { return s.P50 })},
			{Label: "p99", Color: i % 8, Y: value(func(s *results.SegmentStats) float64 { return s.P99 })},
			{Label: "max", Color: i % 8, Class: "thin", Y: value(func(s *results.SegmentStats) float64 { return s.Max })},
		}
		desc := "Of the requests that started in each segment. " + rangeOf(lines, human.Millis)
		s.chart(p.latencyChart(op.Op+" latency", desc, g.timeline(middles(segments, begin)), lines, []svg.Band{{Low: 0, High: 1, Color: i % 8}}, heightOf(len(g.ops))))
	}
	p.section(s)
}

// clientShare draws the client's part of the service times over time, if it is known.
func (p *Page) clientShare(g *group) {
	begin, _ := g.length()
	var lists [][]float64
	for _, op := range g.ops {
		lists = append(lists, middles(op.Segments, begin))
	}
	x, of := svg.Union(lists)
	var lines []svg.Line
	for i, op := range g.ops {
		line := svg.Line{Label: op.Op, Color: i % 8, Y: interpolated(x, of[i], func(k int) float64 {
			if s := op.Segments[k].ClientShare; s != nil {
				return 100 * *s
			}
			return math.NaN()
		})}
		if svg.Highest([]svg.Line{line}) > 0 {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return
	}
	show := func(v float64) string { return svg.Number(v) + " %" }
	title := "This machine's part of the latency"
	if g.Clients > 1 {
		title = "The clients' part of the latency"
	}
	c := &svg.Chart{Title: "Share of the service time", YScale: svg.FromZero(100, show), Lines: lines, Height: 130,
		Desc: "Of the requests that started in each segment. " + rangeOf(lines, show)}
	shown := p.drawTimed("client", c, g.timeline(x), seriesOf(lines, show, mean))
	shown.Note = "The rest is the time on the wire. A peak of both the latency and this part is a burst of other work on the client, not the store."
	p.section(section{ID: "clientpart", Title: title, Blocks: []block{{Chart: shown}}})
}
