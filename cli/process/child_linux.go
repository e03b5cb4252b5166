package process

import "syscall"

// childAttributes put a child into a process group of its own, so that a Ctrl-C
// reaches it through warp only, and once. Where warp is killed the kernel
// interrupts the child, which then cleans up.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}
