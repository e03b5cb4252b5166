package plan_test

import (
	"fmt"
	"time"

	"warp/cli/session/plan"
	"warp/pkg/bench"
)

func ExampleRequests() {
	o := &bench.Options{Concurrency: 20, Rate: 500, Duration: time.Minute}
	fmt.Println(plan.Requests(o, []string{"the throughput is steady (--autoterm)"}))
	// Output: 20 workers send requests, at 500 requests/s, until the throughput is steady (--autoterm) or 1m are over
}
