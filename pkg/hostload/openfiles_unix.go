//go:build unix

package hostload

import "syscall"

// OpenFiles returns how many files this process may have open; 0 = unknown. The runtime has raised
// the limit as far as the system allows.
func OpenFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
