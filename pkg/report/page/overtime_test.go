package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"warp/pkg/results"
)

// The last segments of operations have different middles, and no line has a gap there: a point alone is a thick line without length.
func TestLastSegmentsJoinTheirLines(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	g := &group{GroupReport: &results.GroupReport{WindowStart: begin, WindowS: 2.9}}
	share := .5
	for i, last := range []float64{.9, .8} {
		op := &results.Operation{Op: fmt.Sprint("OP", i), SegmentS: 1}
		for k, length := range []float64{1, 1, last} {
			op.Segments = append(op.Segments, results.Segment{Start: begin.Add(time.Duration(k) * time.Second), DurationS: length, ObjectsPerS: 1, ClientShare: &share})
		}
		g.ops = append(g.ops, op)
	}
	p := &Page{}
	p.throughput(g)
	p.clientShare(g)
	if len(p.Sections) != 2 {
		t.Fatalf("%d sections", len(p.Sections))
	}
	for _, s := range p.Sections {
		if svg := string(s.Blocks[0].Chart.SVG); strings.Count(svg, `vector-effect="non-scaling-stroke"`) != len(g.ops) || strings.Contains(svg, "h0") {
			t.Errorf("%s: %s", s.Title, svg)
		}
	}
}
