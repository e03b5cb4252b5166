// Package terminal handles terminals: lines that are drawn in place, colors,
// keys, and untrusted text.
package terminal

import "golang.org/x/term"

// Descriptor returns the file descriptor of f; ok reports whether f is a terminal.
func Descriptor(file any) (fd int, ok bool) {
	f, ok := file.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}
