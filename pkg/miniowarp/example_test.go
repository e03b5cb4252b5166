package miniowarp_test

import (
	"fmt"
	"strings"

	"warp/pkg/miniowarp"
)

// Read returns a report in the same form as for warp's own runs.
func ExampleRead() {
	text := `{"v": 2, "commandline": "warp put", "final": true, "by_op_type": {"PUT": {
		"total_requests": 20, "total_objects": 20, "total_bytes": 20480, "concurrency": 4,
		"start_time": "2026-01-01T10:00:00Z", "end_time": "2026-01-01T10:00:02Z",
		"hosts": ["http://a"], "clients": ["x"],
		"throughput": {"measure_duration_millis": 2000, "bytes": 20480, "objects": 20, "ops": 20}}}}`
	r, err := miniowarp.Read(strings.NewReader(text), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range r.Operations {
		fmt.Printf("%s: %d requests, %g objects/s, %g bytes/s\n", op.Op, op.Requests, op.ObjectsPerS, op.BytesPerS)
	}
	// Output: PUT: 20 requests, 10 objects/s, 10240 bytes/s
}
