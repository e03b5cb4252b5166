package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"warp/internal/check"
	"warp/pkg/find"
	"warp/pkg/report/printer"
)

// searchOf returns the result of a search with three steps and two assertions.
func searchOf() *find.Report {
	number := func(x float64) *float64 { return &x }
	figure := func(ms float64, holds bool) []find.Figure {
		return []find.Figure{
			{Assertion: "GET.response.p99<20ms", Subject: "GET.response.p99", Unit: "ms", Limit: 20, Measured: number(ms), Low: number(ms * .9), High: number(ms * 1.1), Holds: holds},
			{Assertion: "errors<0.1%", Subject: "errors", Unit: "%", Limit: .1, Measured: number(0), Low: number(0), High: number(0), Holds: true},
		}
	}
	return &find.Report{
		Version: 1, Command: "warp get", Benchmark: "get", Folder: "search", Unit: "requests/s", Assertions: []string{"GET.response.p99<20ms", "errors<0.1%"},
		Status: find.Found, Estimate: 7500, Held: 7500, Failed: 7750, FailsFirst: "GET.response.p99 was 24.1 ms, the limit is 20 ms", Workers: 64, Seconds: 431,
		Notes: []string{"128 workers did not help at 7,750 requests/s: the store was the limit"},
		Steps: []find.Point{
			{Load: 5000, Workers: 64, Role: find.Search, Seconds: 10, Outcome: find.Held, Rate: 4999.6, Values: figure(8.123, true)},
			{Load: 7750, Workers: 64, Role: find.Search, Seconds: 20, Outcome: find.Failed, Rate: 7612, Repeated: true, Values: figure(12419.6, false)},
			{Load: 7500, Workers: 64, Role: find.Hold, Seconds: 60, Outcome: find.Held, Rate: 7500.1, Values: figure(18, true)},
		},
	}
}

// The result of a search fits the terminal, and columns are left out in the order of their weight.
func TestFindText(t *testing.T) {
	t.Parallel()
	for width, columns := range map[int][]string{
		60:  {"requests/s", "result", "GET.response.p99"},
		80:  {"requests/s", "result", "GET.response.p99"},
		100: {"result", "GET.response.p99", "errors", "99 % interval"},
		120: {"requests/s", "for", "result", "GET.response.p99", "errors", "99 % interval"},
		140: {"step", "GET.response.p99", "errors", "99 % interval"},
	} {
		var b bytes.Buffer
		check.OK(t, FindText(&b, searchOf(), printer.Options{Width: width}))
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns have a line of %d: %s", width, n, line)
			}
		}
		for _, title := range columns {
			if !strings.Contains(b.String(), title) {
				t.Errorf("%d columns have no %q\n%s", width, title, b.String())
			}
		}
	}
	var b bytes.Buffer
	check.OK(t, FindText(&b, searchOf(), printer.Options{}))
	for _, want := range []string{"All assertions hold at 7,500 requests/s (between 7,500 requests/s and 7,750 requests/s).", "the limit is 20 ms.", "Note: 128 workers", "search, repeated", "12,420 ms", "3 steps in 7m11s, 64 workers at the end."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q\n%s", want, b.String())
		}
	}
}
