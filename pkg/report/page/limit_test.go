package page

import (
	"strings"
	"testing"

	"warp/pkg/hostload"
	"warp/pkg/results"
)

// Requests that failed were sent on time all the same, and a quota of a part of a core is no zero.
func TestLimitCard(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		group               results.GroupReport
		load                hostload.Load
		figure, note, event string
	}{
		"on schedule": {group: results.GroupReport{WindowS: 10, OfferedPerS: 100, AchievedPerS: 99.5}, figure: "the schedule", note: "99.5 of 100 requests/s achieved", event: "kept up with the schedule"},
		"failed":      {group: results.GroupReport{WindowS: 10, OfferedPerS: 100, AchievedPerS: 98.5, Errors: 11}, figure: "the schedule", note: "98.5 of 100 requests/s achieved, 1.1/s failed", event: "on the schedule of 100 requests/s, and 1.1 of them/s failed"},
		"behind":      {group: results.GroupReport{WindowS: 10, OfferedPerS: 100, AchievedPerS: 90, Errors: 11}, figure: "below the schedule", note: "90.0 of 100 requests/s achieved, 1.1/s failed", event: "Only 90.0 of the 100"},
		"quota":       {load: hostload.Load{WallSeconds: 10, Cores: .2, CPUSeconds: .52}, figure: "not the client", note: "client used 26 % of 0.2 cores", event: "are the store's"},
		"whole cores": {load: hostload.Load{WallSeconds: 10, Cores: 2, CPUSeconds: 1}, figure: "not the client", note: "client used 5 % of 2 cores", event: "are the store's"},
	} {
		c := (&Page{}).limitCard(&results.Report{ClientLoad: &test.load, Client: &results.ClientVerdict{Verdict: results.StoresFigures, Sentence: "The figures are the store's."}}, []group{{GroupReport: &test.group}})
		if c.Figure != test.figure || c.Note != test.note || !strings.Contains(c.sentence, test.event) {
			t.Errorf("%s: %q, %q, %q", name, c.Figure, c.Note, c.sentence)
		}
	}
}
