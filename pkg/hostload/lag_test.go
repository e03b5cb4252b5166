package hostload

import (
	"testing"
	"time"
)

func TestLag(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lags     map[time.Duration]int
		from, to time.Duration // what the percentile lies in
	}{
		"none":              {nil, 0, 0},
		"too few":           {map[time.Duration]int{time.Second: 99}, 0, 0},
		"enough":            {map[time.Duration]int{time.Second: 100}, time.Second, 1090 * time.Millisecond},
		"one in a hundred":  {map[time.Duration]int{0: 99, time.Second: 1}, time.Microsecond, time.Microsecond},
		"two in a hundred":  {map[time.Duration]int{0: 98, 8 * time.Millisecond: 2}, 8 * time.Millisecond, 8720 * time.Microsecond},
		"early and endless": {map[time.Duration]int{-time.Second: 1, 100 * time.Hour: 99}, 15 * time.Minute, time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l Lag
			for d, n := range test.lags {
				for range n {
					l.Add(d)
				}
			}
			if got := l.P99(); got < test.from.Seconds()*0.9999 || got > test.to.Seconds()*1.0001 {
				t.Errorf("%g s, want %v to %v", got, test.from, test.to)
			}
		})
	}
}
