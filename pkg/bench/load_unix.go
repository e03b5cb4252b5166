//go:build unix

package bench

import (
	"runtime"
	"syscall"
	"time"
)

// cpuTime is the user and system time of the process so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// maxRSS is the process's largest resident set so far, in bytes.
func maxRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" { // which counts bytes, where others count KiB
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
