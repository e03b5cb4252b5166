package testlog_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// The same seed makes the same rows, so a test that fails can be repeated.
func ExampleLoad_Rows() {
	load := testlog.Load{Ops: []string{"GET", "PUT"}, Threads: 2, Length: time.Second, Latency: 50 * time.Millisecond}
	rows := load.Rows(7)
	byEnd := func(a, b oplog.Record) int { return cmp.Compare(a.End(), b.End()) }
	fmt.Println("in the order of a log:", slices.IsSortedFunc(rows, byEnd))
	fmt.Println("the same seed:", reflect.DeepEqual(rows, load.Rows(7)))
	fmt.Println("another seed:", reflect.DeepEqual(rows, load.Rows(8)))
	// Output:
	// in the order of a log: true
	// the same seed: true
	// another seed: false
}
