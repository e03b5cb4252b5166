package aggregate

import (
	"math"
	"slices"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// A clientID names one process of one run. Rows of other tools have no run id;
// there the client id alone tells runs apart.
type clientID struct{ Run, ID string }

// runKey is the identity of the run that the client belongs to.
func (c clientID) runKey() string {
	if c.Run != "" {
		return "run " + c.Run
	}
	return "client " + c.ID
}

// runWindows are the windows of the runs in a log.
type runWindows struct {
	Common oplog.Window           // of all runs; of one run as far as it is decided
	Basis  results.Basis          // Measured or Derived
	starts map[clientID]int64     // of each client in a merged log; nil = Common.Start
	each   []oplog.Window         // of each run in a merged log
	ops    map[opID]*derivedGroup // of a log without windows
}

// mergedWindows are those in the header of a merged log; ok is false where a
// log that was merged has none.
func mergedWindows(origins []oplog.Origin) (w runWindows, ok bool) {
	w.Basis, w.starts = results.Measured, map[clientID]int64{}
	for i := range origins {
		o := &origins[i]
		if !o.Header.Windowed || o.Window == nil {
			return w, false
		}
		w.starts[clientID{o.Run, o.Client}] = o.Window.Start
		w.each = append(w.each, *o.Window)
	}
	w.Common = intersect(w.each)
	return w, true
}

// intersect is the time in which all runs were measured. Its start is the
// earliest one.
func intersect(all []oplog.Window) oplog.Window {
	var common oplog.Window
	for i, w := range all {
		if i == 0 {
			common = w
			continue
		}
		common.Cold += w.Cold
		common.Start = min(common.Start, w.Start)
		common.End = min(common.End, w.End)
		if common.Begin == 0 || w.Begin == 0 {
			common.Begin = 0
		} else {
			common.Begin = max(common.Begin, w.Begin)
		}
	}
	return common
}

// start is when the run of the client left its preparation behind.
func (w *runWindows) start(c clientID) int64 {
	start := w.Common.Start
	if w.starts != nil {
		start = w.starts[c]
	}
	if start == 0 {
		return math.MaxInt64
	}
	return start
}

// A derivedGroup is a set of operations that ran at the same time, and their
// window, in a log that has none.
type derivedGroup struct {
	ops        []opID
	begin, end int64
	runs       []oplog.Window
}

// sortIDs sorts operations by statement and name.
func sortIDs(ids []opID) {
	slices.SortFunc(ids, opID.compare)
}
