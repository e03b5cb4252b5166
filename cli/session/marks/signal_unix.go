//go:build !windows

package marks

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// listenSignals sets a mark at each SIGUSR1 until stop is called.
func (m *Marker) listenSignals() (stop func()) {
	signals, done := make(chan os.Signal, 8), make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		defer close(done)
		n := 0
		for range signals {
			n++
			if _, err := m.Mark(fmt.Sprintf("SIGUSR1 number %d", n)); err != nil {
				m.out.Warnf("SIGUSR1: %v", err)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}
