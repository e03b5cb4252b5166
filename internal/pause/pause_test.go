package pause_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"warp/internal/pause"
)

func ExampleFor() {
	ctx, cancel := context.WithCancel(context.Background())
	fmt.Println(pause.For(ctx, time.Millisecond))
	cancel()
	fmt.Println(pause.For(ctx, time.Hour))
	// Output:
	// true
	// false
}

func TestForWaits(t *testing.T) {
	t.Parallel()
	began := time.Now()
	if pause.For(t.Context(), 20*time.Millisecond); time.Since(began) < 20*time.Millisecond {
		t.Errorf("it waited only %v", time.Since(began))
	}
}
