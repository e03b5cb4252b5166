package teststore

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the process when the test binary ends, however it ends.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
