// Command nullstore runs a null store in a separate process, so that a test can measure warp's memory and
// CPU alone. It prints its address and runs until it is killed, or with -stdin until its standard input ends,
// for example because the test has died.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"warp/pkg/s3mem"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	size := flag.Int64("size", 1024, "bytes that every download has")
	secure := flag.Bool("tls", false, "speak TLS")
	stdin := flag.Bool("stdin", false, "end when standard input ends")
	flag.Parse()
	n, err := s3mem.StartNull(s3mem.NullOptions{Addr: *addr, Size: *size, TLS: *secure})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(n.Addr())
	if *stdin {
		io.Copy(io.Discard, os.Stdin)
		return
	}
	select {}
}
