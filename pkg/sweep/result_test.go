package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/compare"
	"warp/pkg/results"
)

// report returns the report of a run of GET with a throughput in MiB/s and a p99 in ms.
func report(id string, mib, p99 float64) *results.Report {
	return &results.Report{
		Version: 2, Benchmark: "get", Runs: []string{id}, End: "completed", Warnings: []string{},
		Groups: []results.GroupReport{{Kind: results.KindMeasured}},
		Operations: []results.Operation{{Op: "GET", BytesPerS: mib * (1 << 20), ObjectsPerS: mib, Inside: 1000,
			ObjectBytes: results.SizeRange{Mean: 1 << 20, Max: 1 << 20}, Duration: &results.Stats{Count: 1000, Mean: p99 / 2, P50: p99 / 2, P99: p99}}},
	}
}

// runs returns the runs of a sweep of concurrency, a row of throughputs for each point. p99 is the concurrency in ms.
func runs(axis Axis, throughput [][]float64) (all []Measurement) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for point, values := range throughput {
		for i, x := range values {
			all = append(all, Measurement{Point: point, Log: fmt.Sprint(point, "-", i), Began: at.Add(time.Duration(len(all)) * time.Minute),
				Report: report(fmt.Sprint(axis.Flag, point, i), x, axis.Numbers[point])})
		}
	}
	return all
}

func concurrency(numbers ...float64) Axis {
	a := Axis{Flag: Concurrency, Numbers: numbers}
	for _, n := range numbers {
		a.Values = append(a.Values, fmt.Sprint(n))
	}
	return a
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	axis := concurrency(1, 2, 4, 8, 16, 32)
	r := Evaluate(runs(axis, [][]float64{{100, 99}, {200, 198}, {390, 400}, {394, 402}, {396, 404}, {401, 399}}), Options{Axes: []Axis{axis}, Repeats: 2})
	if len(r.Metrics) != 2 || r.Metrics[0].Name != "throughput" || r.Metrics[1].Name != "p99" || len(r.Conclusions) != 1 {
		t.Fatalf("%+v", r)
	}
	c := &r.Conclusions[0]
	var neighbours []string
	for _, l := range c.Neighbours {
		neighbours = append(neighbours, fmt.Sprint(l.Concurrency))
	}
	if c.Enough.Concurrency != 4 || *c.Enough.P99 != 4 || c.Half.Concurrency != 2 || *c.Half.P99 != 2 || strings.Join(neighbours, " ") != "8 16 32" || c.Growing || c.Declined || c.Law != nil || c.NoLaw != "no decline was measured" {
		t.Errorf("%+v, neighbours %s", c, neighbours)
	}
	if p := &r.Points[0].Cells[0]; p.Median != 99.5*(1<<20) || p.Min != 99*(1<<20) || p.Max != 100*(1<<20) || p.Low != nil {
		t.Errorf("%+v", p)
	}
}

// The law is fitted where a decline was measured, and not where the ranges overlap.
func TestLawOfADecline(t *testing.T) {
	t.Parallel()
	axis := concurrency(1, 18, 36, 72, 108, 144, 216)
	measured := [][]float64{{64.9}, {995.9}, {1652.4}, {1853.2}, {1828.9}, {1775.0}, {1702.2}}
	r := Evaluate(runs(axis, measured), Options{Axes: []Axis{axis}, Repeats: 1})
	c := &r.Conclusions[0]
	if !c.Declined || c.Law == nil || math.Abs(c.Law.Alpha-.0277285) > 5e-7 || math.Abs(c.Law.Peak-96.5) > .1 {
		t.Errorf("%+v", c)
	}
	measured[6] = []float64{1702.2, 1500, 1860}
	r = Evaluate(runs(axis, measured), Options{Axes: []Axis{axis}, Repeats: 1})
	if c := &r.Conclusions[0]; c.Declined || c.Law != nil {
		t.Errorf("the ranges overlap: %+v", c)
	}
	r = Evaluate(runs(axis, measured)[:6], Options{Axes: []Axis{axis}, Repeats: 1}) // 5 % less, but it is not more than 5 %
	if c := &r.Conclusions[0]; c.Law != nil {
		t.Errorf("%+v", c)
	}
}

// Points where this machine was the limit, or requests failed, are no basis of conclusions.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	axis := concurrency(1, 2, 4, 8, 16)
	all := runs(axis, [][]float64{{100}, {200}, {400}, {800}, {1600}})
	all[4].Report.Client = &results.ClientVerdict{Verdict: results.ClientLimited, Sentence: "this machine was the limit, by far."}
	all[3].Report.Operations[0].Errors = 100
	r := Evaluate(all, Options{Axes: []Axis{axis}, Repeats: 1})
	if r.Points[4].LeftOut != "this machine was the limit, by far." || r.Points[3].LeftOut != "9.1 % of its requests failed" {
		t.Errorf("%q, %q", r.Points[4].LeftOut, r.Points[3].LeftOut)
	}
	if c := &r.Conclusions[0]; c.Points != 3 || c.LeftOut != 2 || c.Best.Concurrency != 4 {
		t.Errorf("%+v", c)
	}
	all[2].Report.End = "aborted"
	if c := Evaluate(all, Options{Axes: []Axis{axis}, Repeats: 1}).Conclusions[0]; c.Best != nil || c.Points != 2 {
		t.Errorf("%+v", c)
	}
}

// With two axes there is a conclusion for each value of the one that is not the concurrency, whichever comes first.
func TestConclusionsOfTwoAxes(t *testing.T) {
	t.Parallel()
	sizes := Axis{Flag: "obj.size", Values: []string{"4KiB", "1MiB"}, Numbers: []float64{4096, 1 << 20}}
	for _, axes := range [][]Axis{{sizes, concurrency(1, 2, 4)}, {concurrency(1, 2, 4), sizes}} {
		var all []Measurement
		for point := range Points(axes) {
			place := Place(axes, point)
			size, n := place[0], place[1]
			if axes[0].Flag == Concurrency {
				size, n = place[1], place[0]
			}
			all = append(all, Measurement{Point: point, Report: report(fmt.Sprint(point), []float64{100, 200, 300}[n]*float64(1+size), 1)})
		}
		r := Evaluate(all, Options{Axes: axes, Repeats: 1})
		if len(r.Conclusions) != 2 || r.Conclusions[0].At != "obj.size=4KiB" || r.Conclusions[1].At != "obj.size=1MiB" || r.Conclusions[1].Best.Median != 600*(1<<20) || !r.Conclusions[1].Growing {
			t.Errorf("%+v", r.Conclusions)
		}
	}
}

// The first point once more shows a drift, but not the usual differences between runs of the same thing.
func TestDrift(t *testing.T) {
	t.Parallel()
	axis := concurrency(1, 2, 4)
	for _, test := range []struct {
		repeats []float64
		again   float64
		want    bool
	}{{[]float64{100}, 104, false}, {[]float64{100}, 94, true}, {[]float64{100, 90}, 94, false}, {[]float64{100, 99}, 120, true}} {
		all := runs(axis, [][]float64{test.repeats, {200}, {300}})
		all = append(all, Measurement{Point: 0, Again: true, Log: "last", Began: all[len(all)-1].Began.Add(time.Minute), Report: report("last", test.again, 1)})
		r := Evaluate(all, Options{Axes: []Axis{axis}, Repeats: len(test.repeats)})
		if r.Again == nil || r.Again.Changes[0].Drifted != test.want || len(r.Points[0].Logs) != len(test.repeats) {
			t.Errorf("%+v: %+v", test, r.Again)
		}
	}
}

// One run at each of eight points is enough for a verdict over all of them; each by itself has none.
func TestCompare(t *testing.T) {
	t.Parallel()
	axis := concurrency(1, 2, 4, 8, 16, 32, 64, 128)
	var before, faster [][]float64
	for i := range 8 {
		x := 100 * math.Pow(1.5, float64(i))
		before = append(before, []float64{x})
		faster = append(faster, []float64{x * (1.1 + .001*float64(i))})
	}
	a, b := runs(axis, before), runs(axis, faster)
	for i := range b {
		b[i].Report.Runs = []string{fmt.Sprint("after", i)}
		b[i].Began = b[i].Began.Add(time.Hour)
	}
	axes := [2][]Axis{{axis}, {axis}}
	o := compare.Options{MinEffect: .02, MaxErrors: compare.MaxErrors, Judge: []compare.Choice{{Metric: "throughput"}}}
	c, err := Compare(a, b, axes, [2]string{"old", "new"}, o)
	check.OK(t, err)
	x := c.Overall[0]
	if c.Points != 8 || c.First != "old" || c.Verdict != compare.Better || x.Verdict != compare.Better || math.Abs(*x.Change-10.35) > .2 || x.P != 2./256 {
		t.Errorf("%+v", c)
	}
	if len(c.ByPoint) != 8 || c.ByPoint[0].Row.Verdict != compare.TooFew {
		t.Errorf("%+v", c.ByPoint)
	}
	b[3].Report.End = "aborted"
	c, err = Compare(a, b, axes, [2]string{"old", "new"}, o)
	if err != nil || c.Points != 7 || len(c.LeftOut) != 1 || c.LeftOut[0] != "concurrent=8: it ended early" {
		t.Errorf("%v, %+v", err, c)
	}
	share := .5
	f := &b[5].Report.Operations[0]
	f.Wire, f.ClientShare = &results.Stats{}, &share
	if c, err = Compare(a, b, axes, [2]string{"old", "new"}, o); err != nil || c.Overall[0].Points != 6 ||
		!slices.Contains(c.Warnings, "throughput is not compared at 1 of 7 points, because it describes this machine and not the store there") {
		t.Errorf("%v, %+v", err, c)
	}
	if _, err := Compare(a, a, axes, [2]string{"old", "old"}, o); err == nil || !strings.Contains(err.Error(), "must not count twice") {
		t.Error(err)
	}
	other := concurrency(3)
	far := runs(other, [][]float64{{1}})
	far[0].Report.Runs = []string{"far"}
	if _, err := Compare(a, far, [2][]Axis{{axis}, {other}}, [2]string{"old", "new"}, o); err == nil || !strings.Contains(err.Error(), "no point in common") {
		t.Error(err)
	}
}
