package clock_test

import (
	"fmt"
	"time"

	"warp/pkg/fleet/clock"
)

// The client's clock is 5 s ahead, and each direction takes 1 ms.
func ExampleSample() {
	ms := int64(time.Millisecond)
	o := clock.Sample(0, 5001*ms, 5002*ms, 3*ms)
	fmt.Println(o.Ahead, o.RoundTrip)
	// Output: 5s 2ms
}
