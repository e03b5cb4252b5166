package process

import (
	"os"
	"os/exec"
	"strconv"
)

// endGroup ends a process and its children.
func endGroup(p *os.Process) error {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() == nil {
		return nil
	}
	return p.Kill()
}

// killGroup has nothing to do: a process that has ended leads no group.
func killGroup(*os.Process) {}
