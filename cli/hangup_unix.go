//go:build !windows

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups receives SIGHUP until stop is called; where the process was told to
// ignore that, only if it is asked for.
func hangups(asked bool) (signals <-chan os.Signal, stop func()) {
	if signal.Ignored(syscall.SIGHUP) && !asked {
		return nil, func() {}
	}
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
