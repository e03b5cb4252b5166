package scripttable_test

import (
	"fmt"

	"warp/cli/session/scripttable"
	"warp/pkg/script"
)

// The user of a script that ends early learns which objects it leaves.
func ExampleTable_Skipped() {
	statements, err := script.Parse("PUT 100 OBJECTS; GET 1000 OBJECTS; DELETE 100 OBJECTS;")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(scripttable.New(nil, statements, nil).Skipped())
	// Output:
	// statements 1 to 3 were not run; what a DELETE there would have removed is still in the bucket
}
