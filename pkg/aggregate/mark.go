package aggregate

import (
	"math"
	"strings"

	"warp/pkg/oplog"
)

// AddMark records a mark. Rows that follow may have ended after it; earlier
// rows have not.
func (s *Summary) AddMark(m oplog.Mark) error {
	s.marks = append(s.marks, m)
	s.markCounts.Mark(m.At)
	return nil
}

// decide sets the window as far as it is known, and all marks so far.
func (s *Summary) decide(w oplog.Window, marks []oplog.Mark) error {
	if err := s.takeMarks(w, marks); err != nil {
		return err
	}
	return s.SetWindow(w)
}

// takeMarks sets the marks after the window is known.
func (s *Summary) takeMarks(_ oplog.Window, marks []oplog.Mark) error {
	for _, m := range marks[min(len(s.marks), len(marks)):] {
		if err := s.AddMark(m); err != nil {
			return err
		}
	}
	return nil
}

// firstUnsent returns when the first request that was never sent was due.
func (s *Summary) firstUnsent() int64 {
	first := int64(math.MaxInt64)
	for _, t := range s.trailers("") {
		if t.UnsentWaits != nil && t.UnsentWaits.Count > 0 {
			first = min(first, t.UnsentWaits.FirstDue.UnixNano())
		}
	}
	return first
}

// countMarks counts a request for the figures of the marks.
func (s *Summary) countMarks(g *group, op *opSummary, r *oplog.Record) {
	if g.Kind == preparation || g.Kind == derived || s.options.Op != "" && !strings.EqualFold(op.ID.Name, s.options.Op) {
		return
	}
	s.markCounts.SetWindow(s.windows.Common, s.options.Skip, s.marks)
	s.markCounts.Add(r)
}
