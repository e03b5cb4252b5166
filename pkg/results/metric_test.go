package results

import (
	"slices"
	"testing"
)

func TestMetricsHaveDistinctNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range Metrics() {
		if seen[m.Name] {
			t.Errorf("two metrics are called %s", m.Name)
		}
		seen[m.Name] = true
	}
	for _, name := range []string{"throughput", "objs", "mean", "p50", "p90", "p99", "p99.9", "max", "ttfb", "response", "response.p99", "errors"} {
		if _, ok := FindMetric(name); !ok {
			t.Errorf("there is no metric %s", name)
		}
	}
	if _, ok := FindMetric("p98"); ok {
		t.Error("there is a metric p98")
	}
}

func TestMetricsAreRead(t *testing.T) {
	t.Parallel()
	stats := func(base float64) *Stats {
		return &Stats{Mean: base, P50: base + 1, P90: base + 2, P99: base + 3, P999: base + 4, Max: base + 5}
	}
	f := Figures{HasBytes: true, BytesPerS: 1, ObjectsPerS: 2, Inside: 3, Errors: 1, Duration: stats(10), TTFB: stats(20), Response: stats(30), Wire: stats(40)}
	var got []float64
	for _, m := range Metrics() {
		v, ok := m.Of(&f)
		if !ok {
			t.Errorf("%s is not there", m.Name)
		}
		got = append(got, v)
	}
	if want := []float64{1, 2, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 30, 31, 32, 33, 34, 35, 40, 41, 42, 43, 44, 45, .25}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, m := range Metrics() {
		if v, ok := m.Of(&Figures{}); ok && m.Name != "objs" {
			t.Errorf("%s of nothing is %v", m.Name, v)
		}
	}
}

func TestMainGroup(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		kinds []string
		want  int
	}{
		{"nothing", nil, -1},
		{"a run", []string{"preparation", "measured"}, 1},
		{"only preparation", []string{"preparation"}, -1},
		{"one statement", []string{"preparation", "statement"}, 1},
		{"two statements", []string{"statement", "statement"}, -1},
		{"a log without windows", []string{"derived", "derived"}, 1},
		{"aggregated results", []string{"aggregated"}, 0},
		{"two runs apart", []string{"preparation", "measured", "measured"}, -1},
	} {
		r := &Report{}
		for _, k := range test.kinds {
			r.Groups = append(r.Groups, GroupReport{Kind: k})
		}
		if got := r.MainGroup(); got != test.want {
			t.Errorf("%s: group %d, want %d", test.name, got, test.want)
		}
	}
}

// The total of several operations is the total of their group. The total of a single operation is
// the operation itself.
func TestTotal(t *testing.T) {
	t.Parallel()
	all := &Stats{Mean: 7}
	r := &Report{
		Groups: []GroupReport{{Kind: "preparation"}, {Kind: "measured", BytesPerS: 30, ObjectsPerS: 3, Errors: 2, Duration: all}},
		Operations: []Operation{
			{Op: "PUT", Group: 0, BytesPerS: 1},
			{Op: "GET", Group: 1, BytesPerS: 30, Inside: 5, ObjectBytes: SizeRange{Max: 10}},
			{Op: "STAT", Group: 1, Inside: 6},
		},
	}
	f, ok := r.Total()
	if !ok || f.Op != "" || f.BytesPerS != 30 || f.Inside != 11 || f.Errors != 2 || f.Duration != all || !f.HasBytes {
		t.Errorf("total of two operations: %+v", f)
	}
	r.Operations = r.Operations[:2]
	if f, ok = r.Total(); !ok || f.Op != "GET" || f.Inside != 5 {
		t.Errorf("total of one operation: %+v", f)
	}
	if _, ok = (&Report{}).Total(); ok {
		t.Error("nothing has a total")
	}
}
