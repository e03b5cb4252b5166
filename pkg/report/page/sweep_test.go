package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/compare"
	"warp/pkg/results"
	"warp/pkg/sweep"
)

// sweepOf returns a sweep with three runs at each point; nothing was measured at the last one.
func sweepOf(axes ...sweep.Axis) *sweep.Result {
	var runs []sweep.Measurement
	for point := range sweep.Points(axes) - 1 {
		for i := range 3 {
			x := float64((1 + point) * (100 + i) << 20)
			runs = append(runs, sweep.Measurement{Point: point, Log: fmt.Sprintf("<folder>/%d-%d.csv.zst", point, i), Began: time.Unix(int64(len(runs)), 0), Report: &results.Report{
				Benchmark: "get", Runs: []string{fmt.Sprint(point, i)}, End: "completed", Groups: []results.GroupReport{{Kind: results.KindMeasured}},
				Operations: []results.Operation{{Op: "GET", BytesPerS: x, ObjectsPerS: 1, Inside: 9, ObjectBytes: results.SizeRange{Mean: 1, Max: 1}, Duration: &results.Stats{Count: 9, P99: float64(point + 1)}}},
			}})
		}
	}
	return sweep.Evaluate(runs, sweep.Options{Folder: "<folder>", Benchmark: "get", Command: "warp get --prefix='<b>'", Repeats: 3, Axes: axes, Missing: 3})
}

// The pages of sweeps are well-formed, and have a curve, a chart for each metric, the grids of two axes, and the logs.
func TestSweepPages(t *testing.T) {
	t.Parallel()
	concurrency := sweep.Axis{Flag: sweep.Concurrency, Values: []string{"1", "2", "4", "8"}, Numbers: []float64{1, 2, 4, 8}}
	hosts := sweep.Axis{Flag: "host", Values: []string{"<script>", "b"}}
	many := sweep.Axis{Flag: "part.size"}
	for i := range 40 {
		many.Values = append(many.Values, fmt.Sprint(i))
	}
	for _, test := range []struct {
		axes          []sweep.Axis
		curves, grids int
	}{
		{[]sweep.Axis{concurrency}, 3, 0},
		{[]sweep.Axis{hosts, concurrency}, 3, 2},
		{[]sweep.Axis{concurrency, hosts}, 3, 2},
		{[]sweep.Axis{hosts}, 0, 0},             // one point only
		{[]sweep.Axis{many, concurrency}, 0, 2}, // too many lines to tell apart
	} {
		var b bytes.Buffer
		check.OK(t, Sweep(sweepOf(test.axes...)).Write(&b))
		html := b.String()
		wellFormed(t, html)
		figures := figuresOf(html)
		for _, wrong := range []string{"NaN", "Inf", "%!", "data:image"} {
			if strings.Contains(figures, wrong) {
				t.Errorf("%v: %s in the page", test.axes, wrong)
			}
		}
		lines := strings.Count(figures, `<div class="plot" id="curve-`) + strings.Count(figures, `<div class="plot" id="metric-`)
		if len(test.axes) == 1 && test.axes[0].Flag == "host" {
			lines -= 2 // the metrics of a single point
		}
		if grids := strings.Count(figures, `" id="grid-`); lines != test.curves || grids != test.grids {
			t.Errorf("%v: %d charts of lines, %d grids", test.axes[0].Flag, lines, grids)
		}
		if !strings.Contains(figures, "&lt;folder&gt;/0-0.csv.zst") {
			t.Errorf("%v: the logs have no names", test.axes)
		}
	}
}

func TestSweepComparisonPage(t *testing.T) {
	t.Parallel()
	change := 5.2
	c := &sweep.Comparison{Before: "<old>", After: "new", MinEffect: 2, Points: 2, Verdict: compare.Better, LeftOut: []string{"concurrent=64: <x>"}, Warnings: []string{"<w>"},
		Overall: []sweep.Overall{{Metric: "throughput", Change: &change, P: .01, Points: 2, Verdict: compare.Better}},
		ByPoint: []sweep.PointChange{{Point: "concurrent=1", Row: compare.Row{Metric: "p99", Unit: results.Milliseconds, Verdict: compare.TooFew}}}}
	var b bytes.Buffer
	check.OK(t, SweepComparison(c).Write(&b))
	wellFormed(t, b.String())
	if !strings.Contains(b.String(), "new is better than &lt;old&gt;.") {
		t.Error(b.String())
	}
}
