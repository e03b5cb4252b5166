package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

func TestCompactGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"get", "mixed", "open", "failing", "delete"} {
		l := testlog.Loads()[name]
		r := analyze(t, l.Rows(1), aggregate.Options{SegmentDur: time.Second})
		for _, width := range []int{60, 80, 120, 200} {
			golden(t, fmt.Sprintf("%s-compact-%d.txt", name, width), func(w io.Writer) error {
				return Compact(w, r, printer.Options{Width: width}, "")
			})
		}
	}
	l := testlog.Loads()["mixed"]
	l.Schedule, l.Sizes, l.Hosts = true, true, 2
	r := described(t, l, 1, aggregate.Options{SegmentDur: time.Second})
	golden(t, "described-compact.txt", func(w io.Writer) error {
		return Compact(w, r, printer.Options{Color: true}, "warp-mixed-2026-01-31[120000]-abcd.csv.zst")
	})
}

// No line is wider than the terminal, however narrow it is.
func TestCompactFits(t *testing.T) {
	t.Parallel()
	for name, l := range testlog.Loads() {
		r := analyze(t, l.Rows(3), aggregate.Options{})
		r.Warnings = append(r.Warnings, "a sentence that is much longer than any of the terminals that it is shown on, because it has so many words in it that nobody would read them all")
		r.Replay = &results.Replay{Log: "friday.csv.zst", Speed: 2, Requests: 2000, Sent: 1990, OnTime: 1900, OnTimeMS: 1, NotSent: []oplog.NotSent{{Op: "LIST", Why: "it cannot be", Count: 10}}}
		for width := 40; width <= 200; width += 7 {
			var b bytes.Buffer
			check.OK(t, Compact(&b, r, printer.Options{Width: width}, "warp-mixed-2026-01-31[120000]-abcd.csv.zst"))
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s: %d of %d columns: %s", name, n, width, line)
				}
			}
			for _, op := range r.Operations {
				if !strings.Contains(b.String(), op.Op) {
					t.Errorf("%s at %d columns has no %s:\n%s", name, width, op.Op, b.String())
				}
			}
		}
	}
}

// What happened comes before any figure.
func TestCompactEvents(t *testing.T) {
	t.Parallel()
	r := &results.Report{
		Groups:     []results.GroupReport{{Kind: results.KindMeasured}},
		Operations: []results.Operation{{Op: "GET", SegmentS: 1, Hosts: []results.Part{{Name: "http://x"}}}},
		Assertions: []results.Assertion{{Result: results.Failed, Sentence: "p99<5ms failed: measured 8 ms"}, {Result: results.Passed, Sentence: "errors<1% holds"}},
	}
	for i, rate := range []float64{100, 100, 0, 378, 100, 100} {
		r.Operations[0].Segments = append(r.Operations[0].Segments, results.Segment{Start: time.Date(2026, 11, 23, 10, 0, i, 0, time.UTC), DurationS: 1, ObjectsPerS: rate, PartialOps: 1})
	}
	var b strings.Builder
	check.OK(t, Compact(&b, r, printer.Options{}, ""))
	const want = "Event: Assertion p99<5ms failed: measured 8 ms.\nEvent: GET: outage of at least 1.0s from 10:00:02 UTC on, in which hardly any\n  request succeeded.\nGET "
	if got := b.String(); !strings.HasPrefix(got, want) || strings.Count(got, "p99<5ms") != 1 || !strings.Contains(got, "Assertion: errors<1% holds") {
		t.Error(got)
	}
}
