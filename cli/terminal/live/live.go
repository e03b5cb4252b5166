// Package live shows the progress of a run: in place on a terminal, with keys, otherwise as lines.
package live

import (
	"sync"
	"time"
)

// A Console shows progress.
type Console interface {
	Note(text string)           // prints a line, above what is drawn
	Figures(v any)              // prints v as a line of JSON
	Draw(lines []string)        // replaces what was drawn before
	Clear()                     // takes it away
	Size() (width, lines int)   // of what can be drawn; 0 where nothing is drawn in place
	Keys(func(key rune)) func() // passes on each key until the returned function is called; nil if there are no keys
}

// A View is how progress is shown.
type View struct {
	Console
	Quiet    bool          // shows nothing
	JSON     bool          // lines are JSON
	Color    bool          // of what is drawn
	Interval time.Duration // between lines where nothing is drawn in place
	Now      func() time.Time
}

// refresh is the interval of drawing.
const refresh = time.Second / 4

// inPlace reports whether the view is drawn.
func (v *View) inPlace() bool {
	width, _ := v.Size()
	return width > 0 && !v.Quiet
}

// show calls draw where the console draws in place, else print, until the
// returned function is called.
func (v *View) show(draw, print func()) (stop func()) {
	switch {
	case v.Quiet:
		return func() {}
	case v.inPlace():
		draw()
		return Every(refresh, draw)
	default:
		return Every(v.Interval, print)
	}
}

// Every calls tick at that interval until the returned function is called,
// which waits for a call in progress.
func Every(interval time.Duration, tick func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(interval)
	go func() {
		defer close(ended)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				tick()
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-ended })
}
