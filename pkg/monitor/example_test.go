package monitor_test

import (
	"fmt"
	"time"

	"warp/pkg/counter"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
)

// The figures of two machines are added while the run lasts.
func ExampleLive() {
	start := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixNano()
	second := int64(time.Second)
	run := func(client string) *monitor.Live {
		live := new(monitor.Live)
		for i := range int64(10) {
			_ = live.Write([]oplog.Record{{
				Op: "GET", Client: client, Endpoint: "http://a:9000", Objects: 1, Bytes: 1 << 20,
				Start: start + i*second, Duration: time.Second,
			}})
		}
		return live
	}
	here, there := run("here"), run("there")
	state, err := monitor.Read(there.Append(nil), 0) // as a coordinator reads it
	if err != nil {
		fmt.Println(err)
		return
	}
	here.Merge(state)
	for _, op := range here.Snapshot(start + 10*second).Ops {
		fmt.Printf("%s: %d requests in %v, %.0f MiB/s\n", op.Op, op.Requests, op.Elapsed, op.Average.Bytes/(1<<20))
	}
	// Output: GET: 20 requests in 10s, 2 MiB/s
}

// A run is steady once its latest samples of the throughput hardly differ.
func ExampleSteadiness() {
	steady := monitor.Steadiness{Percent: 7.5, For: 15 * time.Second}
	start := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixNano()
	for elapsed := time.Second; elapsed <= 10*time.Minute; elapsed += time.Second {
		ops := []monitor.Op{{Op: "GET", Counter: counter.Counter{Bytes: uint64(elapsed.Seconds()) * 100 << 20}, Elapsed: elapsed}}
		steady.Add(&monitor.Snapshot{Ops: ops}, start+int64(elapsed))
		if why, ok := steady.Reached(); ok {
			fmt.Println(elapsed, why)
			break
		}
	}
	// Output: 54s GET within 0 % of 100.00 MiB/s for 15s
}
