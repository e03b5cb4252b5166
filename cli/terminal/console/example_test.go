package console_test

import (
	"fmt"
	"io"
	"os"

	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
)

// Results go to standard output, notes to standard error, neither with secrets.
func ExampleConsole() {
	noVariables := func(string) (string, bool) { return "", false }
	hide := redact.New([]string{"--secret-key=very-secret"}, noVariables)
	c := console.New(console.Streams{Out: os.Stdout, Err: os.Stdout}, noVariables, console.Options{}, hide)
	defer c.Close()
	c.Notef("the key is %s", "very-secret")
	_ = c.Result(func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "GET: 1,000 requests/s")
		return err
	})
	// Output:
	// warp: the key is ***
	// GET: 1,000 requests/s
}
