package recording

import (
	"errors"
	"fmt"

	"warp/pkg/oplog"
)

// ErrTooManyMarks is returned for a mark that does not fit into the log.
var ErrTooManyMarks = fmt.Errorf("the run already has %d marks, the maximum", oplog.MaxMarks)

// Mark adds a mark, to be announced in order with the rows. A mark without a time
// gets the current one.
func (w *Window) Mark(m oplog.Mark) (oplog.Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return m, errors.New("the run is over")
	case len(w.marks) >= oplog.MaxMarks:
		return m, ErrTooManyMarks
	}
	if m.At == 0 {
		m.At = max(w.now(), w.seen)
		if n := len(w.marks); n > 0 {
			m.At = max(m.At, w.marks[n-1].At+1) // no two at one instant, even where the clock is coarse
		}
	}
	w.marks = append(w.marks, m)
	return m, nil
}

// nextMark returns a mark that must be announced before the sinks receive another
// row. It is called until it returns false.
func (w *Window) nextMark() (m oplog.Mark, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.announcedMarks == len(w.marks) {
		return m, false
	}
	w.announcedMarks++
	return w.marks[w.announcedMarks-1], true
}

// closeMarks refuses marks from now on, since nothing would announce them.
func (w *Window) closeMarks() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// announceMarks sends new marks to the sinks.
func (c *Collector) announceMarks() {
	for m, more := c.window.nextMark(); more; m, more = c.window.nextMark() {
		for _, s := range c.sinks {
			if s, ok := s.(MarkSink); ok {
				c.keepError(s.AddMark(m))
			}
		}
	}
}
