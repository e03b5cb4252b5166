package human_test

import (
	"fmt"
	"time"

	"warp/internal/human"
)

func Example() {
	fmt.Println(human.Plural(1, "request"), "of", human.Grouped(12345))
	fmt.Println(human.Duration(90*time.Minute), human.Millis(0.312), human.Millis(1250))
	fmt.Println(human.Bytes(10*human.MiB), human.Rate(812.4*human.MiB))
	fmt.Println(human.OneLine("two\nlines"))
	// Output:
	// 1 request of 12,345
	// 1h30m 312µs 1.25s
	// 10 MiB 812.40 MiB/s
	// two lines
}
