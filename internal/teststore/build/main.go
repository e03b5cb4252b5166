// Command build builds the stores and receivers for the tests into the cache, unless they are
// there. With -list it only prints them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"

	"warp/internal/teststore"
)

func main() {
	list := flag.Bool("list", false, "print what is built, and build nothing")
	flag.Parse()
	if *list {
		fmt.Println(strings.Join(teststore.Titles(), ", "))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := build(ctx)
	stop()
	os.Exit(code)
}

// atOnce is the number of concurrent builds: while one is linking, which takes one core, another
// compiles.
const atOnce = 2

// build builds all of them. It reports a missing tool, which is an error only in CI, because all
// tests must run there.
func build(ctx context.Context) int {
	names := make(chan string)
	var failed atomic.Bool
	var work sync.WaitGroup
	for range atOnce {
		work.Go(func() {
			for name := range names {
				if !buildOne(ctx, name) {
					failed.Store(true)
				}
			}
		})
	}
	for _, name := range teststore.Buildable() {
		names <- name
	}
	close(names)
	work.Wait()
	if failed.Load() {
		return 1
	}
	return 0
}

func buildOne(ctx context.Context, name string) bool {
	path, err := teststore.Build(ctx, name)
	switch {
	case errors.Is(err, teststore.ErrUnavailable) && !teststore.InCI():
		fmt.Fprintf(os.Stderr, "left out: %v\n", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return false
	default:
		fmt.Printf("%-15s %s\n", name, path)
	}
	return true
}
