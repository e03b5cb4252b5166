package svg

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// The picture of latencies has a column for each segment, and a visible cell wherever requests
// were counted. Neighbouring cells of a column are one line.
func TestHeatMap(t *testing.T) {
	t.Parallel()
	m := &HeatMap{Bounds: []float64{1, 1.25, 1.5, 1.75, 2, 2.5}, Counts: [][]uint64{{5}, {}, {0, 0, 0, 1, 1}}}
	columns, highest := m.columns()
	s, height := m.scale()
	if len(columns) != 3 || height < 10 || highest != 5 || s.min != 1 || s.max != 2.5 {
		t.Fatalf("%d columns, %d rows, up to %d, %v to %v", len(columns), height, highest, s.min, s.max)
	}
	for want, n := range map[int]uint64{0: 0, 2: 1, heatLevels: 5} {
		if got := level(n, highest); got != want {
			t.Errorf("%d requests have the level %d, not %d", n, got, want)
		}
	}
	for reached, want := range map[int]string{1: "m0 8v3m2-11v4", 2: "m0 8v3m2-11v4", 3: "m0 8v3", heatLevels: "m0 8v3"} {
		if got := m.path(columns, 1, highest, &s, height, reached); got != want {
			t.Errorf("level %d is drawn as %s, not %s", reached, got, want)
		}
	}
	if drawn, _ := m.SVG(); strings.Count(drawn, "<path") != heatLevels || strings.Contains(drawn, "data:") {
		t.Error(drawn)
	}
	many := &HeatMap{Bounds: []float64{1, 2}, Counts: make([][]uint64, 3*heatColumns)}
	for i := range many.Counts {
		many.Counts[i] = []uint64{1}
	}
	if columns, highest := many.columns(); len(columns) != heatColumns || highest != 3 {
		t.Errorf("%d columns, up to %d", len(columns), highest)
	}
}

// A unit of a heat map is about as wide as high, however many columns there are. In printed pages, PDFium leaves out lines whose
// horizontal scale is many times the vertical one.
func TestUnitsOfHeatMaps(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{1, 2, 8, 60, heatColumns} {
		m := HeatMap{Bounds: []float64{1, 10, 10_000}, Counts: make([][]uint64, columns), To: 60, Length: 60}
		for i := range m.Counts {
			m.Counts[i] = []uint64{0, 1}
		}
		drawn, _ := m.SVG()
		_, box, _ := strings.Cut(drawn, `viewBox="`)
		_, stroke, _ := strings.Cut(drawn, `stroke-width="`)
		var left, top, width, height, unit float64
		if _, err := fmt.Sscanf(box, "%g %g %g %g", &left, &top, &width, &height); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(stroke, "%g", &unit); err != nil {
			t.Fatal(err)
		}
		if width < 3*height || width > 8*height || left != -unit/2 || width != unit*float64(columns) {
			t.Errorf("%d columns, each %g wide, are in the box %g %g %g %g", columns, unit, left, top, width, height)
		}
	}
}

func TestScales(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    Scale
		want string
	}{
		{FromZero(600, Number), "0 200 400 600"},
		{FromZero(0, Number), "0 0.25 0.5 0.75 1"},
		{FromZero(12345, Number), "0 5,000 10,000 15,000"},
		{LogMillis(.8, 2300), "1 ms 10 ms 100 ms 1 s"},
		{LogMillis(20, 90), "20 ms 50 ms 100 ms"},
		{Seconds(60), "0 s 10 s 20 s 30 s 40 s 50 s 1:00"},
		{Seconds(3600), "0 s 10:00 20:00 30:00 40:00 50:00 1:00:00"},
		{Seconds(.5), "0 s 0.1 s 0.2 s 0.3 s 0.4 s 0.5 s"},
	} {
		var labels []string
		for _, t := range c.s.ticks {
			labels = append(labels, t.label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("ticks %s, not %s", got, c.want)
		}
	}
}

// Lines have gaps where there are no values; a single point is visible.
func TestGaps(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	c := &Chart{ID: "c", X: []float64{0, 1, 2, 3, 4}, XScale: Scale{max: 4}, YScale: Scale{max: 10},
		Lines: []Line{{Color: 2, Class: "dash", Y: []float64{0, 10, none, 5, none}}}}
	if drawn, want := c.SVG(), `<path class="s2" stroke="#007f5f" stroke-dasharray="5 4" vector-effect="non-scaling-stroke" d="M0 250l250-250"/><path class="s2" stroke="#007f5f" stroke-width="6" vector-effect="non-scaling-stroke" d="M750 125h0"/>`; !strings.Contains(drawn, want) {
		t.Errorf("%s is not in %s", want, drawn)
	}
	c.Lines = append(c.Lines, Line{Y: []float64{10, 10, none, none, none}})
	c.Bands = []Band{{Low: 0, High: 1, Color: 3}}
	if drawn, want := c.SVG(), `<path class="s3 f3" stroke="#b0508a" stroke-width="1.25" vector-effect="non-scaling-stroke" fill="#b0508a" fill-opacity=".18" d="M0 0l250 0 0 0-250 250z"/>`; !strings.Contains(drawn, want) {
		t.Errorf("%s is not in %s", want, drawn)
	}
}

// Foreign names cannot break out of the text that contains them.
func TestEscapes(t *testing.T) {
	t.Parallel()
	c := &Chart{ID: "c", Title: "</title><script>\x1b\u202e", XScale: Seconds(1), YScale: FromZero(1, Number)}
	if drawn := c.SVG(); !strings.Contains(drawn, "&lt;/title&gt;&lt;script&gt;\uFFFD\uFFFD") || strings.Contains(drawn, "<script") {
		t.Error(drawn)
	}
}

func TestUnion(t *testing.T) {
	t.Parallel()
	x, of := Union([][]float64{{1, 3}, nil, {1, 2, 3.0000000001}})
	if fmt.Sprint(x, of) != "[1 2 3] [[0 2] [] [0 1 2]]" {
		t.Error(x, of)
	}
}

// The names of lines are readable, however close the lines are.
func TestLabels(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string][]float64{ // of p50, p99 and max
		"far apart":       {20, 60, 90},
		"narrow band":     {50, 52, 90},
		"all the same":    {50, 50, 50},
		"at the bottom":   {0, 0, 1},
		"at the top":      {99, 100, 100},
		"beyond the top":  {99, 150, 180},
		"max at the band": {20, 60, 61},
		"two lines end":   {20, 60, math.NaN()},
	} {
		c := &Chart{X: []float64{0, 1}, XScale: Scale{max: 1}, YScale: Scale{max: 100}, Bands: []Band{{Low: 0, High: 1}}}
		for i, label := range []string{"p50", "p99", "max"} {
			c.Lines = append(c.Lines, Line{Label: label, Y: []float64{10, ends[i]}})
		}
		var order []string
		last := map[string]float64{}
		for _, l := range c.labels(130) {
			if above, ok := last[l.x]; l.baseline < letters || l.baseline > 130 || ok && l.baseline < above+labelHeight {
				t.Errorf("%s: %s at %v, after %v", name, l.line.Label, l.baseline, last)
			}
			last[l.x], order = l.baseline, append(order, l.line.Label)
		}
		if want := "[max p99 p50]"; fmt.Sprint(order) != want && !math.IsNaN(ends[2]) {
			t.Errorf("%s: %v, want %s", name, order, want)
		}
	}
	// The band is wide enough.
	c := &Chart{X: []float64{0}, XScale: Scale{max: 1}, YScale: Scale{max: 100}, Bands: []Band{{Low: 0, High: 1}},
		Lines: []Line{{Y: []float64{20}}, {Y: []float64{80}}}}
	if l := c.labels(100); math.Round(l[0].baseline) != 20+belowLine || math.Round(l[1].baseline) != 80+aboveLine {
		t.Errorf("%+v", l)
	}
}
