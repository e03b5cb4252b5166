package field_test

import (
	"fmt"
	"strings"

	"warp/pkg/oplog/field"
)

func ExampleNextNumber() {
	row := []byte("12\tGET\n" + strings.Repeat(" ", field.Room))
	n, at := field.NextNumber(row, 0, '\t')
	fmt.Printf("%d, then %q\n", n, row[at:at+3])
	// Output: 12, then "GET"
}
