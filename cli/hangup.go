package cli

import (
	"os"
	"os/signal"
	"sync"
)

// hangups are what SIGHUP does in all benchmarks of a command line: it toggles
// the tracing of HTTP. A terminal that is closed sends the same signal, and ends
// a run that was not begun with tracing.
type hangups struct {
	signals  chan os.Signal // stays empty until a benchmark begins
	terminal bool           // there was one then

	mu    sync.Mutex
	asked bool          // the benchmark that is on was begun with tracing
	on    bool          // and whether requests are traced now
	moved bool          // by SIGHUP; it holds for the benchmarks that follow
	set   func(on bool) // of the benchmark that is on; nil = there was none yet
}

func newHangups() *hangups { return &hangups{signals: make(chan os.Signal, 8)} }

// begin is called before a benchmark touches anything. From the first one on
// SIGHUP no longer ends warp.
func (h *hangups) begin(asked bool, set func(on bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.set == nil {
		h.terminal = hasTerminal()
	}
	if h.set == nil || asked {
		notifyHangups(h.signals, asked)
	}
	if h.asked, h.set = asked, set; h.moved {
		set(h.on)
		return
	}
	h.on = asked
}

// end has SIGHUP do again what it does to any program.
func (h *hangups) end() { signal.Stop(h.signals) }

// closed says whether a signal means that the terminal is gone, and the run
// was not begun with tracing, which holds on to it as aisloader does.
func (h *hangups) closed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.terminal && !h.asked && !hasTerminal()
}

// toggle switches tracing, and says what it is now.
func (h *hangups) toggle() (state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on, h.moved = !h.on, true
	h.set(h.on)
	if h.on {
		return "on"
	}
	return "off"
}
