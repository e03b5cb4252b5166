package suggest_test

import (
	"fmt"

	"warp/internal/suggest"
)

func ExampleClosest() {
	flags := []string{"host", "obj.size", "duration"}
	for _, word := range []string{"dration", "size", "verbose"} {
		fmt.Printf("%s: %q\n", word, suggest.Closest(word, flags))
	}
	// Output:
	// dration: "duration"
	// size: "obj.size"
	// verbose: ""
}
