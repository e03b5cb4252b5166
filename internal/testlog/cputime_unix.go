//go:build unix

package testlog

import (
	"syscall"
	"time"
)

// CPUTime is the processor time of this process: what reading costs all
// goroutines together, which the wall clock does not show.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
