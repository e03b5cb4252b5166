//go:build !windows

package subprocess

import (
	"os"
	"syscall"
)

// endGroup asks a process and its children to end.
func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// killGroup ends what is left of the group of a process, which has ended.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
