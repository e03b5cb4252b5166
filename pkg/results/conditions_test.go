package results

import (
	"strings"
	"testing"
	"time"

	"warp/pkg/oplog"
)

func TestConditionsSentence(t *testing.T) {
	t.Parallel()
	us, share := 1500., .32
	const end = "; too short for an interval of the throughput; 1 request unsent, 0 unanswered"
	for want, c := range map[string]Conditions{
		"the client took 1.50ms per request and 32 % of the CPU time":                     {ClientUS: &us, CPUShare: &share},
		"the client took 1.50ms per request":                                              {ClientUS: &us},
		"the client's part of a request is unknown; the client took 32 % of the CPU time": {CPUShare: &share},
		"the client's part of a request is unknown":                                       {},
	} {
		c.Unsent = 1
		if got := c.sentence(); got != want+end {
			t.Errorf("%q, want %q", got, want+end)
		}
	}
}

func TestPauseWarnings(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 14, 51, 59, 0, time.UTC)
	pauses := []oplog.Pause{{At: at, Seconds: 17}, {At: at.Add(time.Minute), Seconds: 2}, {At: at.Add(time.Millisecond), Seconds: 17.001}}
	got := strings.Join(pauseWarnings(pauses), "\n")
	const want = `warp did not run on 2 clients for 17.0s from 2026-11-26T14:51:59Z on: the process was stopped, or the machine was suspended.
warp did not run for 2.00s from 2026-11-26T14:52:59Z on: the process was stopped, or the machine was suspended.`
	if got != want {
		t.Errorf("%s", got)
	}
}
