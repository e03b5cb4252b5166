package results

import "testing"

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
