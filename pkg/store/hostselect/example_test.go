package hostselect_test

import (
	"fmt"

	"warp/pkg/store/hostselect"
)

func ExampleSelector() {
	s, err := hostselect.New("weighed", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, second := s.Acquire(), s.Acquire()
	s.Release(second) // host 1 is free before host 0
	fmt.Println(first, second, s.Acquire())
	// Output: 0 1 1
}
