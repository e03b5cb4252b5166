package recording_test

import (
	"fmt"
	"time"

	"warp/pkg/bench/recording"
	"warp/pkg/oplog"
)

// A printer is a sink that prints rows, and the instants of the window.
type printer struct{}

func (printer) Write(rows []oplog.Record) error {
	for _, r := range rows {
		fmt.Println(r.Op, r.Key)
	}
	return nil
}

func (printer) Flush() error { return nil }

func (printer) SetWindow(w oplog.Window) error {
	switch {
	case w.End != 0:
		fmt.Println("end")
	case w.Begin != 0:
		fmt.Println("begin")
	default:
		fmt.Println("start")
	}
	return nil
}

// A run with one worker: the window begins once the worker has a row.
func ExampleCollector() {
	now := func() int64 { return time.Now().UnixNano() }
	window := recording.NewWindow(now, nil)
	collector := recording.Start([]recording.Sink{printer{}}, window, func(err error) { fmt.Println(err) })
	queue := collector.NewQueue(0)
	request := func(op, key string) {
		outer := queue.Begin(op)
		queue.Append(&oplog.Record{Op: op, Key: key, Start: now()})
		queue.End(outer)
	}

	request("PUT", "prepared")
	collector.Sync() // the following rows are of the measured part
	window.Start(now(), recording.WarmUp{Workers: 1, Max: time.Minute})
	collector.Sync()
	request("GET", "first")
	collector.Sync()
	request("GET", "measured")
	collector.Sync()
	window.End(now())
	fmt.Println(collector.Close())
	// Output:
	// PUT prepared
	// start
	// GET first
	// begin
	// GET measured
	// end
	// <nil>
}
