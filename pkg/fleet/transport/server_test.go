package transport

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
)

const (
	testToken    = "a token of the tests"
	testProtocol = 3
)

// A notebook keeps what a server notes, and how many coordinators it let in.
type notebook struct {
	mu    sync.Mutex
	lines []string
	let   int
}

func (n *notebook) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notebook) count(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(strings.Join(n.lines, "\n"), text)
}

func (n *notebook) admitted() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.let
}

// serve starts a server that sends every message back.
func serve(t *testing.T, change func(*Server)) (addr string, notes *notebook) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	notes = &notebook{}
	s := &Server{Identity: Identity{Protocol: testProtocol, Warp: "test", Token: testToken}, Logf: notes.note}
	s.Handle = func(_ context.Context, c *Conn) error {
		notes.mu.Lock()
		notes.let++
		notes.mu.Unlock()
		for {
			k, body, err := c.Receive()
			if err != nil {
				return err
			}
			if err := c.SendBytes(k, body); err != nil {
				return err
			}
		}
	}
	if change != nil {
		change(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = s.Serve(ctx, l) })
	t.Cleanup(func() { cancel(); done.Wait() })
	return l.Addr().String(), notes
}

// connect connects to a server as a coordinator with the token.
func connect(t *testing.T, addr string, change func(*Dialer)) (*Conn, error) {
	t.Helper()
	d := &Dialer{Identity: Identity{Protocol: testProtocol, Warp: "test", Token: testToken}}
	if change != nil {
		change(d)
	}
	c, err := d.Connect(t.Context(), addr, nil, time.Minute)
	if c != nil {
		t.Cleanup(c.Close)
	}
	return c, err
}
