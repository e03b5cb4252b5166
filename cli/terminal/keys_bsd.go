//go:build unix && !linux

package terminal

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA // at once: a terminal that is stopped never has shown everything
)

// flushInput discards input that was typed but not read.
func flushInput(fd int) {
	const read = 1
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
