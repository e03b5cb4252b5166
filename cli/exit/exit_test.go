package exit

import (
	"fmt"
	"testing"

	"warp/pkg/bench"
)

// Where there are several reasons for an exit code, 1, 2 and 130 win, then 4,
// 3 and 5, in whichever order they are found.
func TestExitCodeOfSeveralReasons(t *testing.T) {
	t.Parallel()
	of := func(code int) error {
		switch code {
		case OK:
			return nil
		case Interrupted:
			return bench.ErrInterrupted
		}
		return Withf(code, "a reason")
	}
	order := []int{OK, Undecided, Requests, Assertion} // from the weakest
	for i, weaker := range order {
		for _, stronger := range append(order[i+1:len(order):len(order)], Failed, Usage, Interrupted) {
			for _, err := range []error{Join(of(weaker), of(stronger)), Join(of(stronger), of(weaker))} {
				if got := Code(err); got != stronger {
					t.Errorf("%d and %d: exit code %d, want %d", weaker, stronger, got, stronger)
				}
			}
		}
	}
}

func ExampleError_WithHint() {
	err := Usagef("--obj.size=%s is not a size", "4X").WithHint("write it like 4MiB")
	fmt.Println(err, Code(err))
	// Output: --obj.size=4X is not a size; write it like 4MiB 2
}
