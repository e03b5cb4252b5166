package process_test

import (
	"fmt"

	"warp/cli/process"
)

// A Tail keeps the end of what a program prints, for the message about its failure.
func ExampleTail() {
	var out process.Tail
	fmt.Fprintln(&out, "mounting /data")
	fmt.Fprintln(&out, "mount: no such device")
	fmt.Println("the setup failed" + out.Suffix())
	// Output: the setup failed: mount: no such device
}
