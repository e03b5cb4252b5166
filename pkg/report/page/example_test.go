package page_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/report/page"
)

// The page of a run is a single file.
func ExampleReport() {
	var rows testlog.Log
	for i := range int64(20) {
		rows = append(rows, oplog.Record{
			Op: "GET", Client: "c", Endpoint: "http://a:9000", Objects: 1, Bytes: 1 << 20,
			Start: testlog.Epoch + i*1e8, Duration: 100 * time.Millisecond,
		})
	}
	r, err := aggregate.Analyze(rows, aggregate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := page.Report(r, page.Options{})
	for _, line := range p.Lead {
		fmt.Println(line)
	}
	var html bytes.Buffer
	if err := p.Write(&html); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.HasPrefix(html.String(), "<!DOCTYPE html>"))
	// Output:
	// warp sent 19 requests to a:9000 with 1 worker in 1.80s.
	// Half of the requests took at most 100ms, 99 of 100 at most 100ms. No request failed.
	// true
}
