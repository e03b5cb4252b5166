// Command warp benchmarks S3 object stores.
package main

import (
	"context"
	"os"

	"warp/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}
