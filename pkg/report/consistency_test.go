package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"warp/internal/check"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// The history of a violation breaks between words where the terminal ends, and nowhere without one.
func TestConsistencyFitsTheTerminal(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	const key = "warp-c7py3k3jdz060/044cype9/3.13ahaxf7.rnd"
	write := results.HistoryEvent{Start: begin, End: begin.Add(time.Millisecond), Thread: 3, Host: "http://s3-1:9000", Client: "Zq3x", Op: "PUT", Key: key,
		Condition: "is:0-0-514:117", Sent: "0-0-515:118", Outcome: "won", Status: 200}
	violated := results.ConsistencyProperty{Property: "register", Verdict: results.ConsistencyViolated, Reason: "two requests replaced the same version of an object",
		Shown: []results.Violation{{Rule: "two requests replaced the same version of an object", Key: key,
			History: []results.HistoryEvent{write, write}}}}
	r := &results.Report{Consistency: &results.Consistency{Properties: []results.ConsistencyProperty{violated}, Incomplete: true}}
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		check.OK(t, report.Compact(&b, r, printer.Options{Width: width}, ""))
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns: %d in %q", width, n, line)
			}
		}
		if words := strings.Join(strings.Fields(b.String()), " "); strings.Count(words, "thread 3 PUT if is:0-0-514:117 sent 0-0-515:118 -> won (200) at http://s3-1:9000 by Zq3x") != 2 {
			t.Errorf("%d columns: a request is not whole:\n%s", width, b.String())
		}
	}
	var b bytes.Buffer
	check.OK(t, report.Text(&b, r, printer.Options{}))
	want := fmt.Sprintf("  %9.3f to %9.3f ms  thread 3   PUT      if is:0-0-514:117 sent 0-0-515:118 -> won (200)  at http://s3-1:9000 by Zq3x\n", 0., 1.)
	if !strings.Contains(b.String(), want) {
		t.Errorf("there is no line %q in\n%s", want, b.String())
	}
}

// The key of a violation of list-after-write is a folder: the requests about one object name it.
func TestHistoryNamesObjects(t *testing.T) {
	t.Parallel()
	folder := "warp-c7py3k3jdz060/044cype9/"
	lines := strings.Join(report.ViolationLines(&results.Violation{Key: folder, History: []results.HistoryEvent{
		{Op: "DELETE", Key: folder + "3.13ahaxf7.rnd", Sent: "0-0-5:2", Outcome: "won"},
		{Op: "LIST", Key: folder, Received: "0-3", Outcome: "won"},
	}}), "\n")
	for _, want := range []string{"DELETE   3.13ahaxf7.rnd sent 0-0-5:2 -> won", "LIST     -> won, received 0-3"} {
		if !strings.Contains(lines, want) {
			t.Errorf("there is no %q in\n%s", want, lines)
		}
	}
}
