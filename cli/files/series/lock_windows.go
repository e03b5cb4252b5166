package series

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks the file, or fails at once if another process has locked it. The system releases the lock with the process.
func tryLock(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
}
