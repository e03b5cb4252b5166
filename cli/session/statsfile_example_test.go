package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
	"warp/pkg/counter"
	"warp/pkg/monitor"
)

func Example_statsFile() {
	dir, err := os.MkdirTemp("", "statsfile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	noVariables := func(string) (string, bool) { return "", false }
	out := console.New(console.Streams{Out: os.Stdout, Err: io.Discard}, noVariables, console.Options{}, redact.New(nil, noVariables))
	defer out.Close()
	snapshot := func() monitor.Snapshot {
		return monitor.Snapshot{Ops: []monitor.Op{{Op: "GET", Counter: counter.Counter{Requests: 500}, Elapsed: 10 * time.Second,
			P50: 80 * time.Millisecond, P99: 250 * time.Millisecond, Average: monitor.Rate{Objects: 50, Bytes: 100 << 20}}}}
	}

	path := filepath.Join(dir, "stats.txt")
	f, err := createStatsFile(path, out, snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	stop := f.Start(time.Hour)
	stop()
	f.Finish()
	f.Close()
	text, _ := os.ReadFile(path)
	fmt.Print(string(text))
	// Output:
	// 10s GET: 500 requests, 0 errors, p50 80.0ms, p99 250ms; now 100.0 MiB/s, 50.0 obj/s
}
