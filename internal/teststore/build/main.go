// Command build puts the stores and receivers that the tests need into the cache. It does nothing where they are there.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"warp/internal/teststore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := build(ctx)
	stop()
	os.Exit(code)
}

// build ensures all of them. A missing tool is said, and is an error only in CI, where all must run.
func build(ctx context.Context) (code int) {
	for _, name := range teststore.Buildable() {
		path, err := teststore.Ensure(ctx, name)
		switch {
		case errors.Is(err, teststore.ErrUnavailable) && !teststore.InCI():
			fmt.Fprintf(os.Stderr, "left out: %v\n", err)
		case err != nil:
			fmt.Fprintln(os.Stderr, err)
			code = 1
		default:
			fmt.Printf("%-15s %s\n", name, path)
		}
	}
	return code
}
