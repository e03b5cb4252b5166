package distributed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// This file is the program that fly/benchmark.sh runs as flyctl: the test binary under that name.
// It sends its arguments to the test, which simulates Fly.io, and prints the answer.

const flySocket = "WARP_TEST_FLY" // environment variable with the test's address

// A flyCall is one call of flyctl.
type flyCall struct {
	Args  []string
	Stdin string
	Dir   string
}

// A flyWord is a part of flyctl's output; the last one contains the exit code.
type flyWord struct {
	Out, Err []byte
	Code     *int
}

func flyctl() int {
	call := flyCall{Args: os.Args[1:]}
	call.Dir, _ = os.Getwd()
	if len(call.Args) > 0 && call.Args[0] == "secrets" {
		all, _ := io.ReadAll(os.Stdin)
		call.Stdin = string(all)
	}
	body, _ := json.Marshal(call)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", os.Getenv(flySocket))
	}}}
	resp, err := client.Post("http://fly/", "application/json", bytes.NewReader(body))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	defer resp.Body.Close()
	words := json.NewDecoder(resp.Body)
	for {
		var w flyWord
		if err := words.Decode(&w); err != nil {
			fmt.Fprintln(os.Stderr, "flyctl of the tests:", err)
			return 99
		}
		os.Stdout.Write(w.Out)
		os.Stderr.Write(w.Err)
		if w.Code != nil {
			return *w.Code
		}
	}
}
