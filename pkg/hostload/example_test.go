package hostload_test

import (
	"fmt"

	"warp/pkg/hostload"
)

// The log of this run could not be written fast enough.
func ExampleLimits() {
	load := &hostload.Load{WallSeconds: 60, LagMaxS: 4.5}
	for _, note := range hostload.Limits(load, 1000, false) {
		fmt.Println(hostload.IsLimit(note), note)
	}
	// Output:
	// true this machine may have been the limit: recording fell 4.5 s behind; write the op log to a faster disk, or use --stress
}
