package bench

import (
	"errors"
	"fmt"
	"sync/atomic"

	"warp/pkg/oplog"
)

// A MarkSink is a Sink that receives marks. AddMark is called in order with the
// rows: a row that ended after a mark comes after it.
type MarkSink interface {
	AddMark(oplog.Mark) error
}

// ErrTooManyMarks is returned for a mark that the log has no place for.
var ErrTooManyMarks = fmt.Errorf("the run has %d marks already, and takes no more", oplog.MaxMarks)

// A marking is a run that can be marked.
type marking struct{ window atomic.Pointer[window] }

// Mark notes what somebody has done to the store just now. It fails before and
// after the measured run.
func (m *marking) Mark(text string) (oplog.Mark, error) {
	w := m.window.Load()
	if w == nil {
		return oplog.Mark{}, ErrNotMeasuring
	}
	text, err := oplog.MarkText(text)
	if err != nil {
		return oplog.Mark{}, err
	}
	return w.mark(oplog.Mark{Text: text})
}

// AddMark notes a mark that the coordinator of the run has set.
func (m *marking) AddMark(mark oplog.Mark) error {
	w := m.window.Load()
	if w == nil {
		return ErrNotMeasuring
	}
	_, err := w.mark(mark)
	return err
}

// mark has a mark announced. One without a time is of this moment.
func (w *window) mark(m oplog.Mark) (oplog.Mark, error) {
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

// nextMark returns a mark that has to be announced before the sinks receive
// another row. It is called until it returns false.
func (w *window) nextMark() (m oplog.Mark, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marked == len(w.marks) {
		return m, false
	}
	w.marked++
	return w.marks[w.marked-1], true
}

// closeMarks refuses marks from now on, since nothing would announce them.
func (w *window) closeMarks() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// announceMarks sends the sinks the marks that were set meanwhile.
func (c *collector) announceMarks() {
	for m, more := c.window.nextMark(); more; m, more = c.window.nextMark() {
		for _, s := range c.sinks {
			if s, ok := s.(MarkSink); ok {
				c.record(s.AddMark(m))
			}
		}
	}
}
