package cli

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// closedOutput reports whether warp was started without standard output, as by >&- in a shell.
//
// Go's runtime opens /dev/null, for reading and writing, in the place of a descriptor that is closed. Other programs open
// /dev/null like that to discard output, so the parent process decides: it has no standard output either, or it is a
// shell, whose >/dev/null opens for writing only.
func closedOutput() bool {
	if !discards("self") {
		return false
	}
	parent := strconv.Itoa(os.Getppid())
	_, err := os.Readlink(filepath.Join("/proc", parent, "fd/1"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = os.ReadDir(filepath.Join("/proc", parent, "fd"))
		return err == nil // the parent lives, and has none
	case err != nil || discards(parent):
		return false // warp inherited it
	}
	program, err := os.Readlink(filepath.Join("/proc", parent, "exe"))
	shells := []string{"ash", "bash", "busybox", "dash", "fish", "ksh", "ksh93", "mksh", "sh", "yash", "zsh"}
	return err == nil && slices.Contains(shells, filepath.Base(program))
}

// discards reports whether standard output of a process is /dev/null, open for reading and writing.
func discards(process string) bool {
	if path, err := os.Readlink(filepath.Join("/proc", process, "fd/1")); err != nil || path != os.DevNull {
		return false
	}
	info, err := os.Open(filepath.Join("/proc", process, "fdinfo/1"))
	if err != nil {
		return false
	}
	defer func() { _ = info.Close() }()
	for lines := bufio.NewScanner(info); lines.Scan(); {
		if octal, ok := strings.CutPrefix(lines.Text(), "flags:"); ok {
			flags, err := strconv.ParseUint(strings.TrimSpace(octal), 8, 64)
			return err == nil && flags&syscall.O_ACCMODE == syscall.O_RDWR
		}
	}
	return false
}
