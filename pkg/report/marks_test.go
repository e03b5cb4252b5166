package report

import (
	"io"
	"testing"
	"time"

	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// marked returns a report with a mark of each kind.
func marked() *results.Report {
	number := func(x float64) *float64 { return &x }
	phase := func(s, objects float64, errors uint64, p99 *float64) *results.MarkPhase {
		return &results.MarkPhase{Seconds: s, Requests: uint64(s * objects), Errors: errors, ObjectsPerS: objects, BytesPerS: objects * 65536, P99: p99}
	}
	at := func(s float64) time.Time { return time.Date(2026, 1, 31, 12, 0, 0, int(s*1e9), time.UTC) }
	before := phase(8, 4000, 0, number(1.25))
	return &results.Report{Warnings: []string{}, Marks: []results.MarkReport{
		{At: at(-5), Text: "before the window"},
		{At: at(0), Text: "node 3 restarted \x1b[31m", Before: before, During: phase(2.8, 12.5, 7, number(2999)), After: phase(9.2, 3990, 0, number(1.5)), LongestGapS: number(2.95), RecoveryS: number(2.8)},
		{At: at(12), Text: "läuft 走る", Before: before, After: phase(20, 4010, 0, number(1.2)), LongestGapS: number(.004), RecoveryS: number(0)},
		{At: at(32), Text: "disk pulled, a text that is much longer than what fits into a line of a narrow terminal, whoever has written it", Before: before, During: phase(30, 0, 0, nil), LongestGapS: number(30)},
		{At: at(62), Text: "at the begin", During: phase(8, 1, 0, nil), LongestGapS: number(1)},
	}}
}

func TestGoldenMarks(t *testing.T) {
	t.Parallel()
	r := marked()
	golden(t, "marks.txt", func(w io.Writer) error { return Text(w, r, printer.Options{}) })
	golden(t, "marks.json", func(w io.Writer) error { return printer.JSON(w, &results.Report{Marks: r.Marks}) })
	for name, width := range map[string]int{"marks-60.txt": 60, "marks-80.txt": 80} {
		golden(t, name, func(w io.Writer) error { return Compact(w, r, printer.Options{Width: width}, "") })
	}
}
