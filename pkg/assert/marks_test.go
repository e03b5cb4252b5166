package assert

import (
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/results"
)

func TestJudgeMarks(t *testing.T) {
	t.Parallel()
	number := func(x float64) *float64 { return &x }
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	outside := results.MarkReport{At: at, Text: "outside"}
	quick := results.MarkReport{At: at, Text: "quick", LongestGapS: number(.5), RecoveryS: number(0)}
	slow := results.MarkReport{At: at, Text: "slow", LongestGapS: number(3), RecoveryS: number(12)}
	never := results.MarkReport{At: at, Text: "never", LongestGapS: number(2)}
	noisy := results.MarkReport{At: at, Text: "noisy", LongestGapS: number(.1), Noise: true}
	late := results.MarkReport{At: at.Add(time.Minute - 2*time.Second), Text: "late", LongestGapS: number(.1)}
	for _, test := range []struct {
		text   string
		marks  []results.MarkReport
		strict bool
		want   string
		in     string // the sentence
	}{
		{"recovery<30s", []results.MarkReport{outside, quick, slow}, false, results.Passed, "measured 12 s"},
		{"recovery<30s", []results.MarkReport{quick, slow}, true, results.Inconclusive, "--assert-strict needs an interval"},
		{"recovery<12s", []results.MarkReport{slow, quick}, false, results.Failed, `measured 12 s; after the mark "slow" at 12:00:00 UTC`},
		{"recovery>=1s", []results.MarkReport{slow, quick}, false, results.Failed, `measured 0 s; after the mark "quick"`},
		{"recovery<30s", []results.MarkReport{quick, never, slow}, false, results.Failed, `not back within the window after the mark "never"`},
		{"recovery<30s", []results.MarkReport{quick, late}, false, results.Inconclusive, `ends too soon after the mark "late"`},
		{"recovery<30s", []results.MarkReport{quick, noisy}, false, results.Inconclusive, `the drop after the mark "noisy" at 12:00:00 UTC is not distinguishable from noise`},
		{"recovery<12s", []results.MarkReport{late, slow}, false, results.Failed, "measured 12 s"},
		{"longest_gap<=3000ms", []results.MarkReport{quick, never, slow}, false, results.Passed, "measured 3000 ms"},
		{"longest_gap<2.5s", []results.MarkReport{quick, slow}, false, results.Failed, "measured 3 s"},
		{"recovery<30s", nil, false, results.Failed, "there is no data: no mark"},
		{"longest_gap<30s", []results.MarkReport{outside}, false, results.Failed, "there is no data: no mark"},
	} {
		a, err := Parse(test.text, known())
		check.OK(t, err)
		report := &results.Report{Marks: test.marks, Groups: []results.GroupReport{{WindowEnd: at.Add(time.Minute)}}}
		got := Judge([]*Assertion{a}, report, test.strict)
		if len(got) != 1 || got[0].Result != test.want || !strings.Contains(got[0].Sentence, test.in) || (got[0].Measured != nil) != strings.Contains(got[0].Sentence, ": measured") {
			t.Errorf("%s of %d marks: %+v", test.text, len(test.marks), got)
		}
	}
}

// An assertion about marks never ends a run early, because there may be another mark.
func TestMarksAreNeverUnreachable(t *testing.T) {
	t.Parallel()
	r, all := reportOf(t, steadyRows(20, func(int) float64 { return 5 }), 20, "recovery<1ms", "longest_gap<1ms", "max<1ms")
	for i, unreachable := range []bool{false, false, true} {
		if why := Unreachable(all[i], r, time.Minute); (why != "") != unreachable {
			t.Errorf("%s: %q", all[i].Text, why)
		}
	}
}
