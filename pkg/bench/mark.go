package bench

import (
	"sync/atomic"

	"warp/pkg/bench/recording"
	"warp/pkg/oplog"
)

// A marking is a run that can be marked.
type marking struct {
	window atomic.Pointer[recording.Window]
}

// Mark records that somebody has just done something to the store. It fails before
// and after the measured run.
func (m *marking) Mark(text string) (oplog.Mark, error) {
	w := m.window.Load()
	if w == nil {
		return oplog.Mark{}, ErrNotMeasuring
	}
	text, err := oplog.MarkText(text)
	if err != nil {
		return oplog.Mark{}, err
	}
	return w.Mark(oplog.Mark{Text: text})
}

// AddMark adds a mark that the coordinator of the run has set.
func (m *marking) AddMark(mark oplog.Mark) error {
	w := m.window.Load()
	if w == nil {
		return ErrNotMeasuring
	}
	_, err := w.Mark(mark)
	return err
}
