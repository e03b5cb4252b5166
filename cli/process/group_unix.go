//go:build !windows

package process

import (
	"os"
	"syscall"
)

// endGroup asks a process and its children to end.
func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// killGroup kills the rest of the group of a process that has ended.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
