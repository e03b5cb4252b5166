package terminal_test

import (
	"fmt"

	"warp/cli/terminal"
)

// Text from a store must not move the cursor or change colors.
func ExamplePlain() {
	fmt.Println(terminal.Plain("object \x1b[31mred\x1b[0m"))
	// Output:
	// object \u001b[31mred\u001b[0m
}
