package session

import (
	"strings"
	"testing"
	"time"
)

func TestStartTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 22, 30, 10, 0, time.UTC)
	for text, want := range map[string]string{
		"22:31":                "2026-03-04T22:31:00Z",
		"00:05":                "2026-03-05T00:05:00Z",
		"22:30":                "! more than 12 hours away; write the date too, like 2026-03-05T22:30:00Z",
		"2026-03-04T22:30:11Z": "2026-03-04T22:30:11Z",
		"2026-03-04T22:30:09Z": "! has passed",
		"25:00":                "! is not a time",
		"now":                  "! is not a time",
	} {
		at, err := startTime(text, now)
		got := at.Format(time.RFC3339)
		if err != nil {
			got = "! " + err.Error()
		}
		if part, wrong := strings.CutPrefix(want, "! "); wrong && !strings.Contains(got, part) || !wrong && got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
