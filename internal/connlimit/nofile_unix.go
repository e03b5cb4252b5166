//go:build unix

package connlimit

import "syscall"

// openFiles returns the max number of open files of the process, or 0 if it is unknown.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
