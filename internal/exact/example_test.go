package exact_test

import (
	"fmt"
	"math"

	"warp/internal/exact"
)

// The bytes of a request of three seconds are spread over these seconds, and none is lost.
func ExampleShare() {
	var before uint64
	for second := range int64(3) {
		sum := exact.Share(1000, second+1, 3)
		fmt.Println(sum - before)
		before = sum
	}
	// Output:
	// 333
	// 333
	// 334
}

func ExampleUint128() {
	var sum exact.Uint128
	sum.Add(0, math.MaxUint64)
	sum.Add(0, 1)
	fmt.Println(sum.Big(), exact.AddUint(math.MaxUint64, 1))
	// Output: 18446744073709551616 18446744073709551615
}
