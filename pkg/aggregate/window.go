package aggregate

import (
	"math"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// A clientID identifies one process of one run. Logs of other tools have no run
// ID; there the client ID alone identifies the run.
type clientID struct{ Run, ID string }

// runKey returns the identity of the client's run.
func (c clientID) runKey() string {
	if c.Run != "" {
		return "run " + c.Run
	}
	return "client " + c.ID
}

// runWindows holds the windows of the runs in a log.
type runWindows struct {
	Common oplog.Window           // common to all runs; of a single run as far as it is known
	Basis  results.Basis          // Measured or Derived
	starts map[clientID]int64     // of each client in a merged log; nil = Common.Start
	each   []oplog.Window         // of each run in a merged log
	cold   map[string]int         // workers of each run in a merged log that had not finished a request when its window began
	ops    map[opID]*derivedGroup // of a log without windows
}

// mergedRuns returns the identities of the runs of a merged log.
func mergedRuns(origins []oplog.Origin) (runs []string) {
	for i := range origins {
		runs = append(runs, clientID{origins[i].Run, origins[i].Client}.runKey())
	}
	return runs
}

// mergedWindows returns the windows from the header of a merged log; ok is
// false if one of the merged logs has none.
func mergedWindows(origins []oplog.Origin) (w runWindows, ok bool) {
	w.Basis, w.starts, w.cold = results.Measured, map[clientID]int64{}, map[string]int{}
	for i := range origins {
		o := &origins[i]
		if !o.Header.Windowed || o.Window == nil {
			return w, false
		}
		id := clientID{o.Run, o.Client}
		w.starts[id] = o.Window.Start
		w.cold[id.runKey()] += o.Window.Cold
		w.each = append(w.each, *o.Window)
	}
	w.Common = intersect(w.each)
	return w, true
}

// intersect returns the time in which all runs were measured, and the earliest
// start.
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

// start returns the end of the preparation of the client's run.
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

// A derivedGroup is a set of operations that ran at the same time, with the
// window derived for them.
type derivedGroup struct {
	ops        []opID
	begin, end int64
	runs       []oplog.Window
}
