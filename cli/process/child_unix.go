//go:build unix && !linux

package process

import "syscall"

// childAttributes put a child into a process group of its own, so that a Ctrl-C
// reaches it through warp only, and once.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
