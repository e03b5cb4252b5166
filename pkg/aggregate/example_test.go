package aggregate_test

import (
	"fmt"
	"time"

	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
)

// rows returns 20 downloads of 1 MB by one thread, each a tenth of a second long.
func rows() (all testlog.Log) {
	for i := range int64(20) {
		all = append(all, oplog.Record{
			Op: "GET", Client: "c", Endpoint: "http://a:9000", Objects: 1, Bytes: 1e6,
			Start: testlog.Epoch + i*1e8, Duration: 100 * time.Millisecond, FirstByte: 10 * time.Millisecond,
		})
	}
	return all
}

// The log does not contain its window, so Analyze derives it: it begins when the thread has
// finished a request, and ends when the last one starts.
func ExampleAnalyze() {
	r, err := aggregate.Analyze(rows(), aggregate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	op := r.Operations[0]
	fmt.Printf("%s: %d of %d requests in %.1fs (%s), %.0f MB/s, p99 %.0f ms\n",
		op.Op, op.Inside, op.Requests, op.WindowS, op.WindowBasis, op.BytesPerS/1e6, op.Duration.P99)
	// Output: GET: 19 of 20 requests in 1.8s (derived), 10 MB/s, p99 100 ms
}

// Two clients count separately, and their coordinator merges the counts.
func ExampleSummary_Merge() {
	all := rows()
	a, b := aggregate.NewSummary(aggregate.Options{}), aggregate.NewSummary(aggregate.Options{})
	w := oplog.Window{Start: all[0].Start, Begin: all[2].Start, End: all[18].Start}
	for i, s := range []*aggregate.Summary{a, b} {
		_ = s.SetWindow(w)
		_ = s.Write(all[10*i : 10*i+10])
	}
	if err := a.Merge(b); err != nil {
		fmt.Println(err)
		return
	}
	r, err := a.Report()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Operations[0].Inside, r.Operations[0].Bytes)
	// Output: 17 16000000
}
