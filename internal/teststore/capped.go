package teststore

import (
	"net"
	"sync"
	"testing"
	"time"
)

// A Cap limits what goes through connections in one direction, in bytes per second; 0 = unlimited.
type Cap struct {
	Each float64 // of each connection
	All  float64 // of all connections together
}

// Capped starts a relay to a store whose connections are no faster than the caps, like connections to distant stores, and returns its
// address. down is for what the store sends.
func Capped(t testing.TB, store string, down, up Cap) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var relays sync.WaitGroup
	allDown, allUp := &pace{rate: down.All}, &pace{rate: up.All}
	var mu sync.Mutex
	closed := false
	open := map[net.Conn]bool{}
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		closed = true
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		relays.Wait()
	})
	keep := func(c net.Conn) bool {
		mu.Lock()
		defer mu.Unlock()
		open[c] = true
		return !closed
	}
	relays.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", store)
			if err != nil || !keep(client) || !keep(server) {
				_ = client.Close()
				continue
			}
			relays.Go(func() { relay(client, server, &pace{rate: down.Each}, allDown) })
			relays.Go(func() { relay(server, client, &pace{rate: up.Each}, allUp) })
		}
	})
	return l.Addr().String()
}

// idle is how long a read takes at least if there is nothing to read.
const idle = 5 * time.Millisecond

// relay copies in pieces that are small compared with what goes through in a second.
func relay(to, from net.Conn, own, all *pace) {
	defer func() { _, _ = to.Close(), from.Close() }()
	piece := make([]byte, 64<<10)
	for {
		begin := time.Now()
		n, err := from.Read(piece)
		if n > 0 {
			busy := time.Since(begin) < idle // it was there already
			due := own.take(n, busy)
			if later := all.take(n, busy); later.After(due) {
				due = later
			}
			time.Sleep(time.Until(due))
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// A pace says when bytes may pass at a rate.
type pace struct {
	rate float64 // bytes per second; 0 = unlimited
	mu   sync.Mutex
	next time.Time
}

// take returns when n more bytes have passed. A busy connection makes up for sleeps that lasted too long, but not for the time in
// which there was nothing to send.
func (p *pace) take(n int, busy bool) time.Time {
	now := time.Now()
	if p.rate == 0 {
		return now
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next.Before(now) && (!busy || p.next.IsZero()) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(float64(n) / p.rate * float64(time.Second)))
	return p.next
}
