package fleet

import (
	"slices"

	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/oplog"
)

// Mark records a mark at the current time of the coordinator's clock. The
// clients also record it in their logs, in case this process dies before it
// merges them. Mark fails before and after the measured run.
func (f *Fleet) Mark(text string) (oplog.Mark, error) {
	text, err := oplog.MarkText(text)
	if err != nil {
		return oplog.Mark{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.marking:
		return oplog.Mark{}, bench.ErrNotMeasuring
	case len(f.marks) >= oplog.MaxMarks:
		return oplog.Mark{}, recording.ErrTooManyMarks
	}
	m := oplog.Mark{At: f.clock.Now(), Text: text}
	if n := len(f.marks); n > 0 {
		m.At = max(m.At, f.marks[n-1].At+1) // marks have distinct times, even if the clock is coarse
	}
	f.marks = append(f.marks, m)
	for _, l := range f.links {
		l.desired.Marks = append(slices.Clip(l.desired.Marks), oplog.Mark{At: l.clockAt(m.At), Text: text})
		l.wake()
	}
	return m, nil
}

// takeMarks sets whether marks are accepted.
func (f *Fleet) takeMarks(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.marking = on
}
