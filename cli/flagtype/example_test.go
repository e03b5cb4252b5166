package flagtype_test

import (
	"fmt"

	"warp/cli/flagtype"
)

func ExampleParseSize() {
	n, err := flagtype.ParseSize("10MiB")
	fmt.Println(n, flagtype.FormatSize(n), err)
	// Output: 10485760 10MiB <nil>
}
