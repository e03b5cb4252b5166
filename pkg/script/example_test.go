package script_test

import (
	"fmt"

	"warp/pkg/script"
)

func ExampleParse() {
	statements, err := script.Parse("PUT 10 OBJECTS OF SIZE 2 MB; GET OBJECTS FOR 30 SECONDS AT RATE 90 PER MINUTE;")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range statements {
		fmt.Println(s.Line, s.Verb, s.Objects, s.Runtime, s.Rate)
	}
	// Output:
	// 1 PUT 10 0s 0
	// 1 GET 0 30s 1.5
}
