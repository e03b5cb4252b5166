//go:build !windows

package runsocket

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

func userName() string { return strconv.Itoa(os.Getuid()) }

// userFolder returns the runtime folder of the user in systems with systemd, even if the
// environment does not name it.
func userFolder() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	return filepath.Join("/run/user", userName())
}

func checkOwner(path string, info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(s.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to somebody else", path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to others: its mode is %#o, and not 0700", path, info.Mode().Perm())
	}
	return nil
}

// alive reports whether a process with that id exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
