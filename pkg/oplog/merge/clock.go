package merge

import (
	"fmt"
	"math"
	"time"

	"warp/pkg/oplog"
)

// A clockShift moves the times of a log to the clock of the run's coordinator.
type clockShift struct {
	log   string
	ahead int64
}

// maxShift is far more than any fleet accepts. It keeps a hostile header from moving times out of
// their range.
const maxShift = 24 * time.Hour

// clockShiftOf returns the shift for the log with that header. The times of a merged log are
// already shifted.
func clockShiftOf(h oplog.Header, log string) (clockShift, error) {
	s := clockShift{log, h.ClockOffset}
	if s.ahead > int64(maxShift) || s.ahead < -int64(maxShift) {
		return s, &oplog.ReadError{File: log, Line: 2, Err: fmt.Errorf("the header says that the clock was %v ahead, which is more than a day", time.Duration(s.ahead))}
	}
	if len(h.Merged) > 0 {
		s.ahead = 0
	}
	return s, nil
}

func (s clockShift) apply(r *oplog.Record) error {
	if s.ahead == 0 {
		return nil
	}
	if s.ahead > 0 && r.Start < math.MinInt64+s.ahead || s.ahead < 0 && r.End() > math.MaxInt64+s.ahead {
		return &oplog.ReadError{File: s.log, Err: fmt.Errorf("a request cannot be moved by %v: its time is out of range", time.Duration(-s.ahead))}
	}
	r.MoveBack(s.ahead)
	return nil
}
