package report

import (
	"strings"
	"testing"
	"time"

	"warp/pkg/results"
)

// If a mark is near the end, the report says that its recovery is unknown, not that there was none.
func TestRecoveryNearTheEnd(t *testing.T) {
	t.Parallel()
	start, gap := time.Unix(1_700_000_000, 0), .1
	r := &results.Report{Groups: []results.GroupReport{
		{WindowStart: start, WindowEnd: start.Add(20 * time.Second)}, {WindowStart: start, WindowEnd: start.Add(20 * time.Second)},
	}}
	for at, want := range map[time.Duration]string{
		10 * time.Second: "not recovered within the window",
		16 * time.Second: "recovery unknown, as the window ends less than 5",
	} {
		m := &results.MarkReport{At: start.Add(at), Before: &results.MarkPhase{}, LongestGapS: &gap}
		if got := recovery(m, r); !strings.HasPrefix(got, want) {
			t.Errorf("a mark after %v: %s", at, got)
		}
	}
}

func TestRecoverySentences(t *testing.T) {
	t.Parallel()
	number := func(x float64) *float64 { return &x }
	gap, before := number(.1), &results.MarkPhase{}
	r := &results.Report{}
	for want, m := range map[string]results.MarkReport{
		"no drop of throughput":                                  {RecoveryFromS: number(0), RecoveryS: number(0)},
		"recovered after 4.00s":                                  {RecoveryFromS: number(4), RecoveryS: number(4), DropS: number(.1)},
		"recovered after 3.80s to 4.20s":                         {RecoveryFromS: number(3.8), RecoveryS: number(4.2), DropS: number(0)},
		"dropped after 6.00s, recovered after 16s":               {RecoveryFromS: number(16), RecoveryS: number(16), DropS: number(6)},
		"recovered after 4.00s, dropped again after 20s":         {RecoveryFromS: number(4), RecoveryS: number(4), RelapseS: number(20)},
		"dropped after 6.00s, not recovered within the window":   {DropS: number(6)},
		"a drop of throughput is not distinguishable from noise": {Noise: true},
	} {
		m.LongestGapS, m.Before = gap, before
		if got := recovery(&m, r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
