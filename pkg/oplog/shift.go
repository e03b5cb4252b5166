package oplog

import (
	"fmt"
	"math"
	"time"
)

// A clockShift moves the times of a log to the clock of the run's coordinator.
type clockShift struct {
	name  string
	ahead int64
}

// maxShift is far more than any fleet accepts, and keeps a hostile header from
// moving times out of their range.
const maxShift = 24 * time.Hour

// shift is by how much the times of the log called name are to be moved. Those
// of a merged log were moved already.
func (h *Header) shift(name string) (clockShift, error) {
	s := clockShift{name, h.ClockOffset}
	if s.ahead > int64(maxShift) || s.ahead < -int64(maxShift) {
		return s, &ReadError{File: name, Line: 2, Err: fmt.Errorf("the header says that the clock was %v ahead, which is more than a day", time.Duration(s.ahead))}
	}
	if len(h.Merged) > 0 {
		s.ahead = 0
	}
	return s, nil
}

func (s clockShift) apply(rec *Record) error {
	if s.ahead == 0 {
		return nil
	}
	if s.ahead > 0 && rec.Start < math.MinInt64+s.ahead || s.ahead < 0 && rec.End() > math.MaxInt64+s.ahead {
		return &ReadError{File: s.name, Err: fmt.Errorf("a request cannot be moved by %v: its time is out of range", time.Duration(-s.ahead))}
	}
	rec.MoveBack(s.ahead)
	return nil
}

// MoveBack moves the times of a record by that many ns.
func (r *Record) MoveBack(ahead int64) {
	r.Start -= ahead
	if r.Due != 0 {
		r.Due -= ahead
	}
}
