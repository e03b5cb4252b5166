//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// WatchSuspension restores the terminal before Ctrl-Z stops warp, and draws again
// when warp continues. It also restores it before Ctrl-\ ends warp.
func (c *Console) WatchSuspension() (stop func()) {
	if c.screen == nil {
		return func() {}
	}
	signals, resumed := make(chan os.Signal, 1), make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTSTP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	signal.Notify(resumed, syscall.SIGCONT)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-resumed:
				c.resumed()
			case s := <-signals:
				if s == syscall.SIGQUIT {
					c.suspend(func() {
						signal.Stop(signals)
						_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
						time.Sleep(time.Second) // it comes before that is over
					})
				} else if hasShell() {
					c.suspend(func() {
						// A signal that was handled once does not stop a Go process any more.
						_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
						select {
						case <-resumed:
						case <-time.After(time.Second):
						}
					})
				}
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		signal.Stop(resumed)
		close(done)
		<-ended
	}
}

// hasShell reports whether there is a shell that can continue warp. The system
// does not suspend a process without one either.
func hasShell() bool {
	leader, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group, err := unix.Getpgid(leader)
	return err == nil && group != unix.Getpgrp()
}
