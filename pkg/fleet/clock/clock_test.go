package clock

import (
	"testing"
	"time"
)

// A clock is ahead or behind by a time, which has no sign.
func TestOffsetInWords(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]string{
		-9 * time.Microsecond: "behind by 9µs (round trip 1ms)", 0: "ahead by 0s (round trip 1ms)", 2 * time.Second: "ahead by 2s (round trip 1ms)",
	} {
		if got := (Offset{Ahead: ahead, RoundTrip: time.Millisecond}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
