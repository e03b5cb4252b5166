package pacing_test

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/bench/pacing"
)

// Arrivals are due at fixed times. A worker that is late sends them late, but sends
// all of them.
func ExamplePacer() {
	start := time.Now().Add(-time.Second)
	p, err := pacing.New(pacing.Constant(10), start, time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	p.Max = 3
	for {
		arrival, ok := p.Next(context.Background(), time.Now())
		if !ok {
			return
		}
		fmt.Println(arrival.Due.Sub(start))
	}
	// Output:
	// 0s
	// 100ms
	// 200ms
}
