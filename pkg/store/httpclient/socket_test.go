package httpclient

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/dial"
)

// Written bytes wait for the next read, unless there are many.
func TestSocketCollects(t *testing.T) {
	t.Parallel()
	arrived := make(chan int, 100)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 1<<20)
		for {
			n, err := c.Read(b)
			if err != nil {
				return
			}
			arrived <- n
			c.Write([]byte("x"))
		}
	}()
	tcp, err := dial.NewDialer(&store.Config{}).Connect(t.Context(), l.Addr().String())
	check.OK(t, err)
	defer tcp.Close()
	c := &Conn{tls: new(tls.Conn)}
	if c.sock, err = newSocket(c, tcp); err != nil {
		t.Fatal(err)
	}
	write := func(n int) {
		t.Helper()
		if _, err := c.sock.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	write(100)
	write(200)
	time.Sleep(20 * time.Millisecond)
	if len(arrived) > 0 {
		t.Error("something arrived before it was to be sent")
	}
	if _, err := c.sock.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if n := <-arrived; n != 300 {
		t.Errorf("%d bytes arrived at once, want 300", n)
	}
	for range 20 {
		write(16 << 10)
		if len(c.sock.out) > maxCollected {
			t.Fatalf("%d bytes are waiting", len(c.sock.out))
		}
	}
	if len(c.sock.out) == 0 {
		t.Error("nothing is left for the read to send, which is when the last byte is noted")
	}
}
