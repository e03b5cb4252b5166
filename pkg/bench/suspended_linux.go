package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// suspended returns how long the machine was suspended since it was started, 0 if
// that is unknown.
func suspended() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}
