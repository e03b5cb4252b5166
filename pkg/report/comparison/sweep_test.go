package comparison_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"warp/internal/check"
	"warp/pkg/compare"
	"warp/pkg/report/comparison"
	"warp/pkg/report/printer"
	"warp/pkg/results"
	"warp/pkg/sweep"
)

// sweepResult returns a sweep of concurrency, with sizes if there are two axes. The last concurrency is left out, and the
// sweep has drifted.
func sweepResult(sizes ...string) *sweep.Result {
	concurrency := sweep.Axis{Flag: sweep.Concurrency}
	for n := 1; n <= 64; n *= 2 {
		concurrency.Values, concurrency.Numbers = append(concurrency.Values, fmt.Sprint(n)), append(concurrency.Numbers, float64(n))
	}
	axes := []sweep.Axis{concurrency}
	if len(sizes) > 0 {
		axes = []sweep.Axis{{Flag: "obj.size", Values: sizes}, concurrency}
	}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	law := sweep.Law{Alpha: .05, Beta: .003, Gamma: 100 << 20}
	var runs []sweep.Measurement
	const repeats = 6
	add := func(point, i int, again bool, factor float64) {
		place := sweep.Place(axes, point)
		n := concurrency.Numbers[place[len(place)-1]]
		x := law.At(n) * factor * (1 + .004*float64((i*5+point)%7))
		if len(sizes) > 0 {
			x *= float64(1 + place[0])
		}
		p99 := n / x * 1e9
		r := &results.Report{
			Benchmark: "get", Runs: []string{fmt.Sprint(point, i)}, End: "completed", Groups: []results.GroupReport{{Kind: results.KindMeasured}},
			Operations: []results.Operation{{Op: "GET", BytesPerS: x, ObjectsPerS: x / (1 << 20), Inside: 1000, ObjectBytes: results.SizeRange{Mean: 1 << 20, Max: 1 << 20},
				Duration: &results.Stats{Count: 1000, Mean: p99 / 2, P50: p99 / 2, P99: p99}}},
		}
		if n == 64 && i == 0 {
			r.Client = &results.ClientVerdict{Verdict: results.ClientLimited, Sentence: "This machine was the limit, by far."}
		}
		at = at.Add(35 * time.Second)
		runs = append(runs, sweep.Measurement{Point: point, Again: again, Log: fmt.Sprintf("folder/%03d.csv.zst", len(runs)+1), Began: at, Report: r})
	}
	for i := range repeats {
		for point := range sweep.Points(axes) {
			add(point, i, false, 1)
		}
	}
	add(0, 3, true, .9)
	return sweep.Evaluate(runs, sweep.Options{Folder: "folder", Benchmark: "get", Command: "warp get --host=s3:9000", Seed: 1, Repeats: repeats, Axes: axes,
		Missing: 2, Failed: []sweep.Failure{{Values: append(slices.Clone(sizes[:len(axes)-1]), "4"), Log: "folder/099.csv.zst", Error: "no route to host"}}})
}

func TestSweepText(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*sweep.Result{"sweep": sweepResult(), "sweep-two": sweepResult("4KiB", "1MiB", "16MiB")} {
		for _, width := range []int{0, 60, 80, 120} {
			var b bytes.Buffer
			check.OK(t, comparison.SweepText(&b, r, printer.Options{Width: width}))
			file := name + ".txt"
			if width > 0 {
				file = fmt.Sprintf("%s-%d.txt", name, width)
				fits(t, b.String(), width)
			}
			check.Golden(t, "testdata/"+file, b.String())
		}
		var markdown, table bytes.Buffer
		check.OK(t, comparison.SweepMarkdown(&markdown, r))
		check.Golden(t, "testdata/"+name+".md", markdown.String())
		check.OK(t, comparison.SweepCSV(&table, r))
		check.Golden(t, "testdata/"+name+".csv", table.String())
	}
}

func fits(t *testing.T, text string, width int) {
	t.Helper()
	for line := range bytes.Lines([]byte(text)) {
		if n := len([]rune(string(bytes.TrimRight(line, "\n")))); n > width {
			t.Errorf("a line has %d columns, and there are %d: %s", n, width, line)
		}
	}
}

func TestSweepComparisonText(t *testing.T) {
	t.Parallel()
	change, low, high := 5.2, 4.1, 6.3
	c := &sweep.Comparison{
		Before: "old", After: "new", MinEffect: 2, Points: 2, First: "old", LeftOut: []string{"concurrent=64: This machine was the limit, by far."},
		Overall: []sweep.Overall{{Metric: "throughput", Change: &change, Low: &low, High: &high, P: .00781, Points: 2, Verdict: compare.Better}, {Metric: "p99", P: 1, Verdict: compare.Withheld}},
		ByPoint: []sweep.PointChange{
			{Point: "concurrent=1", Row: compare.Row{Metric: "throughput", Unit: results.BytesPerSecond, Before: compare.Sample{Median: 1 << 20}, After: compare.Sample{Median: 1.05 * (1 << 20)}, Change: &change, Verdict: compare.TooFew}},
			{Point: "concurrent=1", Row: compare.Row{Metric: "p99", Unit: results.Milliseconds, Before: compare.Sample{Median: 10}, After: compare.Sample{Median: 9}, Change: &low, Verdict: compare.Undecided}},
		},
		Warnings: []string{"points that only old has: 1"},
	}
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		check.OK(t, comparison.SweepComparisonText(&b, c, printer.Options{Width: width}))
		check.Golden(t, fmt.Sprintf("testdata/sweep-cmp-%d.txt", width), b.String())
	}
	for i := range c.ByPoint {
		c.ByPoint[i].Point, c.ByPoint[i].Row.Verdict = "concurrent=16 obj.size=64KiB", compare.Undecided
	}
	var b bytes.Buffer
	check.OK(t, comparison.SweepComparisonText(&b, c, printer.Options{Width: 60}))
	for l := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > 60 {
			t.Errorf("%d characters where 60 fit: %s", n, l)
		}
	}
}

// Many points that are left out do not fill the terminal with their reasons.
func TestSweepWarningsAreFew(t *testing.T) {
	t.Parallel()
	r := &sweep.Result{Axes: []sweep.Axis{{Flag: "concurrent"}}}
	for _, value := range []string{"1", "2", "4", "8", "16"} {
		r.Points = append(r.Points, sweep.Point{Values: []string{value}, LeftOut: "this machine was the limit."})
	}
	want := []string{
		"concurrent=1 is left out of conclusions (*): this machine was the limit.",
		"concurrent=2 is left out of conclusions (*): this machine was the limit.",
		"concurrent=4 is left out of conclusions (*): this machine was the limit.",
		"2 points are left out, too: 8, 16; --csv has the reasons.",
	}
	if got := comparison.SweepWarnings(r); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// With two axes, points are named by both values and flags. A metric that no run has is a warning.
func TestSweepWarningsNamePoints(t *testing.T) {
	t.Parallel()
	r := &sweep.Result{Axes: []sweep.Axis{{Flag: "concurrent"}, {Flag: "obj.size"}}, Metrics: []sweep.Metric{{Name: "throughput"}, {Name: "PUT.p99"}}}
	known, none := sweep.Cell{Values: []float64{1}}, sweep.Cell{}
	for _, value := range []string{"1", "2", "4", "8"} {
		r.Points = append(r.Points, sweep.Point{Values: []string{value, "4KiB"}, Logs: []string{"a"}, Cells: []sweep.Cell{known, none}, LeftOut: "errors."})
	}
	want := []string{
		"concurrent=1 obj.size=4KiB is left out of conclusions (*): errors.",
		"concurrent=2 obj.size=4KiB is left out of conclusions (*): errors.",
		"concurrent=4 obj.size=4KiB is left out of conclusions (*): errors.",
		"1 point is left out, too: concurrent=8 obj.size=4KiB; --csv has the reasons.",
		"no run has PUT.p99; --show chooses other metrics.",
	}
	if got := comparison.SweepWarnings(r); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Runs of a point that failed for the same reason are one warning.
func TestSweepFailures(t *testing.T) {
	t.Parallel()
	r := &sweep.Result{Axes: []sweep.Axis{{Flag: "host"}}}
	for _, host := range []string{"a", "b", "a"} {
		r.Failed = append(r.Failed, sweep.Failure{Values: []string{host}, Error: "a run of host=" + host + " failed: exit status 1: nothing answers"})
	}
	want := []string{"host=a failed 2 times: exit status 1: nothing answers", "host=b failed: exit status 1: nothing answers"}
	if got := comparison.SweepWarnings(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A sentence begins with a capital letter, unless it is about one value of an axis.
func TestNoConclusion(t *testing.T) {
	t.Parallel()
	r := &sweep.Result{Conclusions: []sweep.Conclusion{{}, {At: "obj.size=4KiB", Points: 1}}}
	want := []string{"No conclusion, because no point can be used.", "obj.size=4KiB: no conclusion, because only 1 point can be used."}
	if got := comparison.SweepRemarks(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A point without a metric that other points have is named.
func TestSweepWithoutMetric(t *testing.T) {
	t.Parallel()
	known := sweep.Cell{Values: []float64{1}, Median: 1}
	r := &sweep.Result{Axes: []sweep.Axis{{Flag: "stages"}}, Metrics: []sweep.Metric{{Name: "p99"}}, Points: []sweep.Point{
		{Values: []string{"1s@50"}, Logs: []string{"1"}, Cells: []sweep.Cell{known}},
		{Values: []string{"1s@20,1s@60"}, Logs: []string{"2"}, Cells: []sweep.Cell{{}}},
		{Values: []string{"2s@60"}, Cells: []sweep.Cell{{}}}, // not made
	}}
	want := []string{"the runs of stages=1s@20,1s@60 have no p99; warp analyze shows their logs."}
	if got := comparison.SweepWarnings(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
