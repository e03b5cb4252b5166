package bench

import (
	"syscall"
	"time"
)

// exactSleep blocks the thread itself: late by some 50 µs, where the runtime's
// timers are late by up to a millisecond. Few workers are in it at a time,
// since only the last moment of a wait is spent here.
func exactSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // an early return is noticed by the caller
}
