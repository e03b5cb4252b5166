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
		if got := Recovery(m, r); !strings.HasPrefix(got, want) {
			t.Errorf("a mark after %v: %s", at, got)
		}
	}
}
