package assert_test

import (
	"fmt"

	"warp/pkg/assert"
)

func ExampleParse() {
	a, err := assert.Parse("GET.p99<50ms", []string{"GET", "PUT"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Subject(), a.Cmp, a.Format(a.Limit))
	_, err = assert.Parse("GET.p99<50MB", []string{"GET", "PUT"})
	fmt.Println(err != nil)
	// Output:
	// GET.p99 < 50 ms
	// true
}
