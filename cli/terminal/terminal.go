// Package terminal is what warp knows of terminals: lines that are drawn in
// place, colors, and what text of others may not do to one.
package terminal

import (
	"io"

	"golang.org/x/term"
)

// Descriptor returns the file descriptor of w; ok reports whether w is a terminal.
func Descriptor(w io.Writer) (fd int, ok bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}
