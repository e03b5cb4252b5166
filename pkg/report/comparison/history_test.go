package comparison

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"warp/internal/check"
	"warp/pkg/compare"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// pastRuns returns a run a day, of which the last are slower, and one that does not count.
func pastRuns() (all []compare.Past) {
	for i := range 16 {
		x := 1000 + 3*float64(i*7%5)
		if i >= 10 {
			x *= .9
		}
		start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		r := &results.Report{
			Benchmark: "get", Warp: "1.0", Runs: []string{fmt.Sprint("run", i)}, End: "completed", Parameters: map[string]string{"obj.size": "1MiB", "concurrent": "8"},
			Groups: []results.GroupReport{{Kind: results.KindMeasured, WindowStart: start, WindowEnd: start.Add(time.Minute)}},
			Operations: []results.Operation{{Op: "GET", Inside: 100, BytesPerS: x * 1e6, ObjectsPerS: x, ObjectBytes: results.SizeRange{Max: 1 << 20},
				Duration: &results.Stats{Mean: 1, P50: 900 / x, P90: 1, P99: 2 + float64(i%3)/10, P999: 3, Max: 4}}},
		}
		if i >= 10 {
			r.Warp = "1.1"
		}
		if i == 4 {
			r.End = "interrupted"
		}
		all = append(all, compare.Past{Run: compare.Run{Name: fmt.Sprintf("nightly/%02d.json", i), Report: r}, Label: fmt.Sprintf("%02d", i)})
	}
	return all
}

func TestHistoryGolden(t *testing.T) {
	t.Parallel()
	h, err := compare.NewHistory(pastRuns(), compare.Options{MinEffect: .02, MaxErrors: .001})
	check.OK(t, err)
	for _, width := range []int{60, 80, 120} {
		golden(t, fmt.Sprintf("history-%d.txt", width), func(w io.Writer) error { return HistoryText(w, h, printer.Options{Width: width}) })
		var b bytes.Buffer
		check.OK(t, HistoryText(&b, h, printer.Options{Width: width}))
		for l := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSpace(l)); n > width {
				t.Errorf("%d characters where %d fit: %s", n, width, l)
			}
		}
	}
	golden(t, "history.csv", func(w io.Writer) error { return HistoryCSV(w, h) })
}

// A history says if its runs have nothing of what is judged.
func TestHistoryWithoutTheMetric(t *testing.T) {
	t.Parallel()
	judged, err := compare.ParseChoices("DELETE.p99")
	check.OK(t, err)
	h, err := compare.NewHistory(pastRuns(), compare.Options{MinEffect: .02, MaxErrors: .001, Judge: judged})
	check.OK(t, err)
	const want = "No change can be found: these runs have none of the metrics to judge (--judge)."
	if all := HistoryRemarks(&h.Workloads[0], nil); len(all) == 0 || all[0] != want {
		t.Errorf("%q", all)
	}
}
