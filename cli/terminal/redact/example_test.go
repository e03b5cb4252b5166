package redact_test

import (
	"fmt"

	"warp/cli/terminal/redact"
)

func ExampleRedactor() {
	args := []string{"get", "--host=s3:9000", "--secret-key=very-secret"}
	hide := redact.New(args, func(string) (string, bool) { return "", false })
	fmt.Println(hide.Text("the store rejected the key very-secret"))
	fmt.Println(redact.Quote(redact.Args(args)))
	// Output:
	// the store rejected the key ***
	// get --host=s3:9000 --secret-key=***
}
