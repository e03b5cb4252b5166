package marks_test

import (
	"fmt"
	"math"
	"time"

	"warp/pkg/aggregate/marks"
	"warp/pkg/oplog"
)

// After a node fails, no request succeeds for 5 seconds.
func Example() {
	second := int64(time.Second)
	start := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixNano()
	window := oplog.Window{Begin: start, End: start + 60*second}
	failure := oplog.Mark{At: start + 20*second, Text: "node 3 failed"}

	var counts marks.Counts
	counts.SetWindow(window, 0, []oplog.Mark{failure})
	for at := start; at < window.End; at += second / 10 {
		if at >= failure.At && at < failure.At+5*second {
			continue
		}
		counts.Add(&oplog.Record{Op: "GET", Start: at, Duration: 100 * time.Millisecond, Objects: 1, Bytes: 1000})
	}
	for _, m := range counts.Reports(window, 0, []oplog.Mark{failure}, math.MaxInt64) {
		fmt.Printf("%s: %g bytes/s before, longest gap %g s, recovered after %g s\n", m.Text, m.Before.BytesPerS, *m.LongestGapS, *m.RecoveryS)
	}
	// Output: node 3 failed: 10000 bytes/s before, longest gap 5.1 s, recovered after 5 s
}
