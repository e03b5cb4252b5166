//go:build !windows

package process

import (
	"os"
	"os/signal"
	"syscall"
)

// notify sends each SIGHUP to c from now on. A process that was started with SIGHUP
// ignored, as by nohup, continues to ignore it unless asked.
func notify(c chan<- os.Signal, asked bool) {
	if asked || !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
}

// hasTerminal reports whether the process has a controlling terminal.
// When that is closed, it is so no longer before SIGHUP arrives.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_ = tty.Close()
	return true
}
