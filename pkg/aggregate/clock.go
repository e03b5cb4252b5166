package aggregate

import (
	"time"

	"warp/internal/exact"
	"warp/pkg/oplog"
)

// span is the time a request took. A clock that was set back, or a row that
// is nonsense, must not corrupt the rest: an end before the start counts as
// the start, an end past the end of time as the end of time.
func span(r *oplog.Record) (start, end int64) {
	if r.Duration <= 0 {
		return r.Start, r.Start
	}
	return r.Start, exact.AddInt(r.Start, int64(r.Duration))
}

// response is the time from when the request was due to its end.
func response(r *oplog.Record, end int64) time.Duration {
	return time.Duration(exact.Distance(r.Due, end))
}
