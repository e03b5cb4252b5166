package teststore

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel end the process when the test binary is gone, however it went.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
