// Package marks sets marks in a run: notes on what people do to the store while it
// is measured.
package marks

import (
	"errors"
	"slices"
	"sync"
	"time"

	"warp/cli/command"
	"warp/cli/terminal/console"
	"warp/internal/runsocket"
	"warp/pkg/bench"
	"warp/pkg/oplog"
)

// A Marker sets the marks of one run. Every way to set a mark (a key, the live
// page, warp mark, a signal, a plan) calls Mark.
type Marker struct {
	out *console.Console
	set func(text string) (oplog.Mark, error)

	mu  sync.Mutex
	all []oplog.Mark
}

// New returns a marker that shows marks on out. set sets the mark in the log and in the report.
func New(out *console.Console, set func(text string) (oplog.Mark, error)) *Marker {
	return &Marker{out: out, set: set}
}

var errNotMeasured = errors.New("the run is not being measured now, so it cannot be marked")

// Mark sets a mark now and shows it. It fails if nothing is measured or the
// text is not valid.
func (m *Marker) Mark(text string) (oplog.Mark, error) {
	mark, err := m.add(text)
	if err == nil {
		m.out.Notef("marked at %s: %s", mark.Time().In(time.Local).Format("15:04:05"), mark.Text)
	}
	return mark, err
}

func (m *Marker) add(text string) (oplog.Mark, error) {
	// Under the lock, so that the list is in order of time.
	m.mu.Lock()
	defer m.mu.Unlock()
	mark, err := m.set(text)
	switch {
	case errors.Is(err, bench.ErrNotMeasuring):
		return mark, errNotMeasured
	case err != nil:
		return mark, err
	}
	m.all = append(m.all, mark)
	return mark, nil
}

// All returns the marks so far, in order of time.
func (m *Marker) All() []oplog.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

// Listen sets the marks of warp mark and of SIGUSR1 until stop is called.
func (m *Marker) Listen(env command.Environment, run runsocket.Info) (stop func()) {
	server, err := runsocket.Listen(env, run, func(text string) (runsocket.Marked, error) {
		mark, err := m.Mark(text)
		return runsocket.Marked{At: mark.Time(), Text: mark.Text}, err
	})
	if err != nil {
		m.out.Notef("warp mark cannot reach this run: %v", err)
	}
	stopSignals := m.listenSignals()
	return func() {
		stopSignals()
		if server != nil {
			server.Close()
		}
	}
}
