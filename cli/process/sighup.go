package process

import (
	"os"
	"os/signal"
	"sync"
)

// A Hangups handles SIGHUP in all benchmarks of a command line. The signal toggles
// the tracing of HTTP. A closed terminal sends the same signal, and ends a run that
// was started without tracing.
type Hangups struct {
	Signals  chan os.Signal // nothing arrives before Begin
	terminal bool           // the process had one then

	mu    sync.Mutex
	asked bool          // the current benchmark was started with tracing
	on    bool          // requests are traced now
	moved bool          // toggled by SIGHUP, which holds for the benchmarks that follow
	set   func(on bool) // of the current benchmark; nil = none yet
}

func NewHangups() *Hangups { return &Hangups{Signals: make(chan os.Signal, 8)} }

// Begin starts a benchmark, before it touches anything. From the first one on
// SIGHUP no longer ends warp. Asked says that the user wants tracing, which set
// switches.
func (h *Hangups) Begin(asked bool, set func(on bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.set == nil {
		h.terminal = hasTerminal()
	}
	if h.set == nil || asked {
		notify(h.Signals, asked)
	}
	if h.asked, h.set = asked, set; h.moved {
		set(h.on)
		return
	}
	h.on = asked
}

// End restores the default action of SIGHUP.
func (h *Hangups) End() { signal.Stop(h.Signals) }

// Closed reports whether the terminal is gone and the run was started without
// tracing. With tracing a run goes on, as in aisloader.
func (h *Hangups) Closed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.terminal && !h.asked && !hasTerminal()
}

// Toggle switches tracing, and returns "on" or "off".
func (h *Hangups) Toggle() (state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on, h.moved = !h.on, true
	h.set(h.on)
	if h.on {
		return "on"
	}
	return "off"
}
