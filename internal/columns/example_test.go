package columns_test

import (
	"fmt"
	"strings"

	"warp/internal/columns"
)

// A narrow terminal shows the most important columns.
func ExampleFit() {
	table := []columns.Column{
		{Title: "host", Cells: []string{"node1", "node2"}},
		{Title: "p99", Drop: 1, Cells: []string{"8.42ms", "812µs"}},
		{Title: "errors", Drop: 2, Cells: []string{"0", "12"}},
	}
	for _, width := range []int{40, 15} {
		fmt.Println(strings.Join(columns.Fit(table, width, nil), "\n"))
	}
	// Output:
	// host      p99  errors
	// node1  8.42ms       0
	// node2   812µs      12
	// host      p99
	// node1  8.42ms
	// node2   812µs
}
