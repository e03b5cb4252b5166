//go:build !windows

package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// markSignals sets a mark at each SIGUSR1 until stop is called.
func (s *session) markSignals() (stop func()) {
	signals, done := make(chan os.Signal, 8), make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		defer close(done)
		n := 0
		for range signals {
			n++
			if _, err := s.mark(fmt.Sprintf("SIGUSR1 number %d", n)); err != nil {
				s.Warnf("SIGUSR1: %v", err)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}
