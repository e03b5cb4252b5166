// Command flawedstore runs a store that breaks one promise, or only seems to, so that warp consistency can
// be tried on it. It prints its hosts, separated by commas, and runs until it is killed, or with -stdin until
// its standard input ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"warp/internal/flawed"
)

func main() {
	var names []string
	for _, k := range flawed.Kinds() {
		names = append(names, string(k.Flaw))
	}
	flaw := flag.String("flaw", "", "what is wrong:"+strings.Join(names, " "))
	hosts := flag.Int("hosts", 2, "number of addresses")
	stdin := flag.Bool("stdin", false, "end when standard input ends")
	flag.Parse()
	s, err := flawed.Start(flawed.Flaw(*flaw), *hosts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(s.Hosts, ","))
	if *stdin {
		io.Copy(io.Discard, os.Stdin)
		fmt.Fprintf(os.Stderr, "%d writes, the flaw showed %d times\n", s.Writes(), s.Shown())
		return
	}
	select {}
}
