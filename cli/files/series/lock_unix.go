//go:build unix

package series

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks the file, or fails at once if another process has locked it. The kernel releases the lock with the process.
func tryLock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
