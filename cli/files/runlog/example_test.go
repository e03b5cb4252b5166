package runlog_test

import (
	"fmt"

	"warp/cli/files/runlog"
)

func ExamplePath() {
	fmt.Println(runlog.Path("before", "get", "Zq3x"))
	fmt.Println(runlog.Path("before.csv.zst", "get", "Zq3x"))
	// Output:
	// before.csv.zst
	// before.csv.zst
}
