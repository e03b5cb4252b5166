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

// spread puts values at their positions and leaves gaps elsewhere.
func spread(n int, at []int, value func(i int) float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = math.NaN()
	}
	for i, k := range at {
		y[k] = value(i)
	}
	return y
}

// throughput draws throughput over time: bytes, if any are moved, and objects.
func (p *Page) throughput(g *group) {
	begin, length := g.length()
	x, of := g.common(begin)
	if len(x) == 0 {
		return
	}
	s := section{ID: "throughput", Title: "Throughput over time"}
	if how := stabilitySentences(g); len(how) > 0 {
		s.Lead = []string{strings.Join(how, " ")}
	}
	marks := g.marks(begin)
	var bytes, objects []svg.Line
	for i, op := range g.ops {
		segments := segmentsOf(op)
		name := human.Visible(op.Op)
		if op.HasBytes() {
			bytes = append(bytes, svg.Line{Label: name, Color: i % 8, Y: spread(len(x), of[i], func(k int) float64 { return segments[k].BytesPerS })})
		}
		objects = append(objects, svg.Line{Label: name, Color: i % 8, Y: spread(len(x), of[i], func(k int) float64 { return segments[k].ObjectsPerS })})
	}
	per := "Each point is a segment of " + human.Seconds(g.ops[0].SegmentS) + "."
	if len(bytes) > 0 {
		desc := per + " " + rangeOf(bytes, func(v float64) string { return human.Rate(v) })
		s.Blocks = append(s.Blocks, block{Chart: p.overTime("throughput", "Payload", desc, x, length, bytes, true, marks, begin)})
	}
	if len(objects) > len(bytes) || len(bytes) == 0 || g.ops[0].ObjectsPerOp.Max > 1 {
		desc := per + " " + rangeOf(objects, func(v float64) string { return svg.Grouped(v) + " objects/s" })
		s.Blocks = append(s.Blocks, block{Chart: p.overTime("objects", "", desc, x, length, objects, false, marks, begin)})
	}
	s.Blocks = append(s.Blocks, block{Table: overTimeTable(g, begin)})
	p.section(s)
}

// rangeOf says in words what the lines show.
func rangeOf(lines []svg.Line, show func(float64) string) string {
	text := ""
	for _, l := range lines {
		least, most := math.Inf(1), math.Inf(-1)
		for _, v := range l.Y {
			if !math.IsNaN(v) {
				least, most = min(least, v), max(most, v)
			}
		}
		if least <= most {
			text += fmt.Sprintf("%s: %s to %s. ", l.Label, show(least), show(most))
		}
	}
	return text
}

func stabilitySentences(g *group) (all []string) {
	for _, op := range g.ops {
		if op.Stability == nil || op.Stability.State == "unknown" {
			continue
		}
		sentence := human.UpperFirst(human.Visible(op.Stability.Sentence)) + "."
		if len(g.ops) > 1 {
			sentence = human.Visible(op.Op) + ": " + human.Visible(op.Stability.Sentence) + "."
		}
		all = append(all, sentence)
	}
	return all
}

// maxRows limits tables over time.
const maxRows = 20

// overTimeTable contains the figures of the charts. It merges neighbouring segments to stay short.
func overTimeTable(g *group, begin time.Time) *table {
	t := &table{Caption: "Figures over time", Head: []string{"from"}, Closed: true}
	longest := 0
	for _, op := range g.ops {
		longest = max(longest, len(op.Segments))
	}
	if longest == 0 {
		return nil
	}
	k := (longest + maxRows - 1) / maxRows
	if k > 1 {
		t.Caption += fmt.Sprintf(", %d segments to a row; latencies are those of the slowest of them", k)
	}
	for _, op := range g.ops {
		name := human.Visible(op.Op)
		if op.HasBytes() {
			t.Head = append(t.Head, name+" bytes/s")
		}
		t.Head = append(t.Head, name+" objects/s", name+" p50", name+" p99", name+" max", name+" errors")
	}
	for from := 0; from < longest; from += k {
		row := []string{""}
		for _, op := range g.ops {
			list := op.Segments[min(from, len(op.Segments)):min(from+k, len(op.Segments))]
			if len(list) > 0 && row[0] == "" {
				row[0] = svg.Elapsed(math.Max(0, math.Round(10*list[0].Start.Sub(begin).Seconds())/10))
			}
			row = append(row, joined(list, op.HasBytes())...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// joined returns the cells of merged segments.
func joined(list []results.Segment, hasBytes bool) (cells []string) {
	var seconds, bytes, objects float64
	var errors uint64
	var p50, p99, most float64
	for i := range list {
		s := &list[i]
		seconds, bytes, objects, errors = seconds+s.DurationS, bytes+float64(s.Bytes), objects+s.Objects, errors+s.Errors
		if l := latencyOf(s); l != nil {
			p50, p99, most = max(p50, l.p50), max(p99, l.p99), max(most, l.max)
		}
	}
	ms := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return human.Millis(v)
	}
	if seconds == 0 {
		cells = []string{"–", "–", "–", "–", "–"}
		if hasBytes {
			cells = append(cells, "–")
		}
		return cells
	}
	if hasBytes {
		cells = append(cells, human.Rate(bytes/seconds))
	}
	return append(cells, svg.Grouped(objects/seconds), ms(p50), ms(p99), ms(most), count(errors))
}

// latencies are the latencies of a segment, in ms.
type latencies struct{ p50, p99, max float64 }

// latencyOf returns nil if the segment has none.
func latencyOf(s *results.Segment) *latencies {
	if s.Duration == nil {
		return nil
	}
	return &latencies{s.Duration.P50, s.Duration.P99, s.Duration.Max}
}

// latency draws latency over time, one chart for each operation.
func (p *Page) latency(g *group) {
	begin, length := g.length()
	s := section{ID: "latency", Title: "Latency over time"}
	for i, op := range g.ops {
		segments := op.Segments
		value := func(of func(*latencies) float64) []float64 {
			y := make([]float64, len(segments))
			for k := range segments {
				y[k] = math.NaN()
				if l := latencyOf(&segments[k]); l != nil {
					y[k] = of(l)
				}
			}
			return y
		}
		lines := []svg.Line{
			{Label: "p50", Color: i % 8, Y: value(func(l *latencies) float64 { return l.p50 })},
			{Label: "p99", Color: i % 8, Class: "dash", Y: value(func(l *latencies) float64 { return l.p99 })},
			{Label: "max", Color: i % 8, Class: "thin", Y: value(func(l *latencies) float64 { return l.max })},
		}
		desc := "Of the requests that started in each segment. " + rangeOf(lines, human.Millis)
		c := p.millis("latency", human.Visible(op.Op)+" latency", desc, middles(segments, begin), length, lines, []svg.Band{{Low: 0, High: 1, Color: i % 8}}, g.marks(begin), begin)
		if c != nil {
			s.Blocks = append(s.Blocks, block{Chart: c})
		}
	}
	p.section(s)
}
