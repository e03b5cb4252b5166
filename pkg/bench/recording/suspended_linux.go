package recording

import (
	"time"

	"golang.org/x/sys/unix"
)

// suspended returns how long the machine has been suspended since it was started,
// or 0 if this is unknown.
func suspended() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}
