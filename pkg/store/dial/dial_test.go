package dial

import (
	"context"
	"net"
	"testing"

	"warp/internal/check"
	"warp/pkg/store"
)

func TestSocketBuffers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	defer l.Close()
	d := NewDialer(&store.Config{Options: store.Options{SendBuffer: 20_000, ReceiveBuffer: 10_000}})
	conn, err := d.Connect(context.Background(), l.Addr().String())
	check.OK(t, err)
	defer conn.Close()
	send, receive := socketBuffers(t, conn)
	// Linux doubles the given size, for its own bookkeeping.
	if send != 20_000 && send != 40_000 || receive != 10_000 && receive != 20_000 {
		t.Errorf("socket buffers are %d and %d", send, receive)
	}
}
