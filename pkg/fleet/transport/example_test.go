package transport_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"warp/pkg/fleet/transport"
)

// A client serves, and a coordinator that knows its token connects.
func Example() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	id := transport.Identity{Protocol: 1, Warp: "example", Token: "a long token for examples"}
	server := transport.Server{Identity: id, Logf: func(string, ...any) {}, Handle: func(_ context.Context, c *transport.Conn) error {
		kind, body, err := c.Receive()
		if err != nil {
			return err
		}
		return c.SendBytes(kind, []byte("received "), body)
	}}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(ctx, l) })
	defer done.Wait()
	defer cancel()

	coordinator := transport.Dialer{Identity: id}
	conn, err := coordinator.Connect(ctx, l.Addr().String(), nil, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	if err := conn.Send(1, map[string]int{"goal": 3}); err != nil {
		fmt.Println(err)
		return
	}
	_, answer, err := conn.Receive()
	fmt.Println(string(answer), err)

	stranger := transport.Dialer{Identity: transport.Identity{Protocol: 1, Warp: "example", Token: "another token for examples"}}
	_, err = stranger.Connect(ctx, l.Addr().String(), nil, time.Minute)
	fmt.Println(err != nil, transport.Final(err))
	// Output:
	// received {"goal":3} <nil>
	// true true
}
