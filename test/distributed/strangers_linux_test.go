package distributed

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/s3mem"
)

// A thousand connections of strangers that send nothing, or an incomplete request, are more than a
// client may have open. The client stays in the current run and in the next one.
func TestManyStrangers(t *testing.T) {
	t.Parallel()
	const files = 256
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = e.Close() })
	c := &cluster{coordinator: &host{dir: t.TempDir()}, store: count(t, "127.0.0.1", e.Addr())}
	for range 2 {
		c.clients = append(c.clients, &host{addr: teststore.FreeAddress(t), dir: t.TempDir(), files: files})
	}
	c.target = []string{"--host=" + c.store.addr, "--access-key=key", "--secret-key=secretsecret", "--bucket=strangers"}
	c.startClients(t)
	p := c.run(t, "before", "6s", "--concurrent=50", "--lease=1m")
	c.measuring(t, p)
	connectStrangers(t, c.clients[0].addr, 1100)
	p.ends(t, 0, "2 clients began within")
	c.holds(t, "before", 0, 1)
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.clients[0].client.cmd.Process.Pid))
	if err != nil || len(open) > files/2 {
		t.Errorf("the client has %d files open, without a run: %v", len(open), err)
	}
	c.run(t, "amid", "2s", "--concurrent=50", "--lease=1m").ends(t, 0, "2 clients began within")
	c.holds(t, "amid", 0, 1)
}

// connectStrangers connects many strangers, again and again when they are disconnected, until the test ends.
func connectStrangers(t *testing.T, addr string, strangers int) {
	t.Helper()
	over := make(chan struct{})
	var all sync.WaitGroup
	t.Cleanup(func() { close(over); all.Wait() })
	for i := range strangers {
		all.Go(func() {
			for {
				c, err := net.DialTimeout("tcp", addr, time.Second)
				if err == nil {
					holdOpen(c, i%2 == 0, over)
				}
				select {
				case <-over:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
}

// holdOpen waits until the connection is closed, silently or in the middle of a request's head.
func holdOpen(raw net.Conn, silent bool, over <-chan struct{}) {
	gone := make(chan struct{})
	defer close(gone)
	go func() {
		select {
		case <-over:
		case <-gone:
		}
		_ = raw.Close()
	}()
	_ = raw.SetDeadline(time.Now().Add(time.Minute))
	if !silent {
		c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
		_, _ = c.Write([]byte("GET /warp/fleet HTTP/1.1\r\nHost: x\r\nX-"))
	}
	_, _ = raw.Read(make([]byte, 1))
}
