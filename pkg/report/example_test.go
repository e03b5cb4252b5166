package report_test

import (
	"fmt"
	"os"
	"time"

	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/report"
	"warp/pkg/report/printer"
)

func ExampleText() {
	var rows testlog.Log
	for i := range int64(20) {
		rows = append(rows, oplog.Record{
			Op: "GET", Client: "c", Endpoint: "http://a:9000", Objects: 1, Bytes: 1 << 20,
			Start: testlog.Epoch + i*1e8, Duration: 100 * time.Millisecond,
		})
	}
	r, err := aggregate.Analyze(rows, aggregate.Options{})
	if err == nil {
		err = report.Text(os.Stdout, r, printer.Options{})
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// ----------------------------------------
	// Operation: GET (20). Ran 2.00s. Size: 1048576 bytes. Concurrency: 1.
	//
	// Requests considered: 19:
	//  * Avg: 100ms, 50%: 100ms, 90%: 100ms, 99%: 100ms, 99.9%: 100ms, Fastest: 100ms, Slowest: 100ms, StdDev: 0s
	//
	// Throughput:
	// * Average: 10.00 MiB/s, 10.00 obj/s (1.800s, starting 03:04:05 UTC)
	//
	// Throughput, split into 2 x 1s:
	//  * Fastest: 10.0MiB/s, 10.00 obj/s (800ms, starting 03:04:06 UTC)
	//  * 50% Median: 10.0MiB/s, 10.00 obj/s (1s, starting 03:04:05 UTC)
	//  * Slowest: 10.0MiB/s, 10.00 obj/s (1s, starting 03:04:05 UTC)
	//
	// Before the window: 1 request, 0 errors; the longest of all took 100ms.
}
