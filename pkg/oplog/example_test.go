package oplog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"

	"warp/pkg/oplog"
)

// A log is written and read again.
func Example() {
	var file bytes.Buffer
	w, err := oplog.NewWriter(&file, oplog.Header{Warp: "1", Run: "r", Client: "A", Benchmark: "get"})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write([]oplog.Record{
		{Op: "GET", Client: "A", Key: "k1", Objects: 1, Bytes: 1024, Start: 1e18, FirstByte: 2e6, Duration: 3e6, Status: 200},
		{Op: "GET", Client: "A", Key: "k2", Err: "SlowDown: later", Start: 1e18 + 5e6, Duration: 1e6, Status: 503},
	}); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(oplog.Trailer{End: "completed"}); err != nil {
		log.Fatal(err)
	}

	r, err := oplog.NewReader(&file, "example")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	batch := make([]oplog.Record, 100)
	for {
		n, err := r.Read(batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for _, rec := range batch[:n] {
			fmt.Printf("%s %s %v %q\n", rec.Op, rec.Key, rec.Duration, rec.Code())
		}
	}
	fmt.Println(r.Header().Benchmark, r.Trailer().End)
	// Output:
	// GET k1 3ms ""
	// GET k2 1ms "SlowDown"
	// get completed
}
