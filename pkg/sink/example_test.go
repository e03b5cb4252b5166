package sink_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/sink"
)

// Rows writes each request as a line of text while the run lasts.
func ExampleRows() {
	var text bytes.Buffer
	rows := sink.NewRows(&text, sink.RowsOptions{Max: 1 << 20, Timeout: time.Minute})
	_ = rows.Write([]oplog.Record{{
		Op: "GET", Client: "c", Endpoint: "http://a:9000", Bytes: 5, Objects: 1, Key: "hello.txt",
		Start: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixNano(), Duration: 20 * time.Millisecond,
	}})
	if lost := rows.Close(context.Background(), nil); lost != "" {
		fmt.Println(lost)
	}
	names, row, _ := strings.Cut(text.String(), "\n")
	columns := strings.Split(row, "\t")
	for i, name := range strings.Split(names, "\t") {
		if columns[i] != "" && i < 8 {
			fmt.Println(name, columns[i])
		}
	}
	// Output:
	// idx 0
	// thread 0
	// op GET
	// client_id c
	// n_objects 1
	// bytes 5
	// endpoint http://a:9000
	// file hello.txt
}

// The token of InfluxDB is part of the address.
func ExampleParseInflux() {
	o, err := sink.ParseInflux("http://TOKEN@127.0.0.1:8086/bench/acme?rack=7")
	fmt.Println(o.Server, o.Bucket, o.Org, o.Tags, err)
	// Output: http://127.0.0.1:8086 bench acme map[rack:7] <nil>
}
