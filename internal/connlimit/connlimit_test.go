package connlimit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// A caller is the other end of an accepted connection.
type caller struct {
	net.Conn
	accepted *Conn
}

// A server accepts on loopback, whose addresses represent many machines.
type server struct {
	*Listener
	mu      sync.Mutex
	dropped map[string]int // by reason
}

func serve(t *testing.T, limits Limits) *server {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{dropped: map[string]int{}}
	limits.Dropped = func(_ net.Addr, why error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dropped[why.Error()]++
	}
	s.Listener = Listen(raw, limits)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *server) count(why error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped[why.Error()]
}

func (s *server) open() int {
	s.Listener.mu.Lock()
	defer s.Listener.mu.Unlock()
	return len(s.strangers)
}

// call connects from an address and has that accepted.
func (s *server) call(t *testing.T, from string) *caller {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Skipf("loopback has no %s here: %v", from, err)
	}
	t.Cleanup(func() { _ = c.Close() })
	accepted, err := s.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return &caller{c, accepted.(*Conn)}
}

// thereAfter says whether the connection is still open after some time.
func (c *caller) thereAfter(d time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(d))
	_, err := c.Read(make([]byte, 1))
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func check(t *testing.T, what string, callers []*caller, want ...bool) {
	t.Helper()
	for i, c := range callers {
		wait := time.Minute // for the end of one that is closed
		if want[i] {
			wait = 20 * time.Millisecond
		}
		if got := c.thereAfter(wait); got != want[i] {
			t.Errorf("%s: connection %d is open: %v", what, i, got)
		}
	}
}

func TestOldestGivesWay(t *testing.T) {
	t.Parallel()
	s := serve(t, Limits{Total: 100, PerAddress: 3})
	var cs []*caller
	for range 5 {
		cs = append(cs, s.call(t, "127.0.0.1"))
	}
	check(t, "five", cs, false, false, true, true, true)
	_ = cs[2].accepted.Close() // makes room
	cs = append(cs, s.call(t, "127.0.0.1"))
	check(t, "after one was closed", cs, false, false, false, true, true, true)
	if n := s.count(ErrGaveWay); n != 2 || s.open() != 3 {
		t.Errorf("%d gave way, %d are open", n, s.open())
	}
}

func TestAdmittedStay(t *testing.T) {
	t.Parallel()
	s := serve(t, Limits{Total: 2, PerAddress: 2, Timeout: 6 * time.Second})
	first := s.call(t, "127.0.0.1")
	if !first.accepted.Admit() {
		t.Error("a new connection could not be admitted")
	}
	if first.accepted.Admit() {
		t.Error("it was admitted twice")
	}
	cs := []*caller{first}
	for range 3 {
		cs = append(cs, s.call(t, "127.0.0.1"))
	}
	check(t, "admitted first", cs, true, false, true, true)
	check(t, "after the timeout", cs, true, false, false, false)
	if cs[3].accepted.Admit() {
		t.Error("a connection was admitted that is closed")
	}
	for end := time.Now().Add(time.Minute); s.count(ErrTimeout) < 2 && time.Now().Before(end); { // a connection is closed before it is counted
		time.Sleep(time.Millisecond)
	}
	if n := s.count(ErrTimeout); n != 2 || s.open() != 0 {
		t.Errorf("%d took too long, %d are open", n, s.open())
	}
}

// Whoever has most connections loses them to others.
func TestOthersGetIn(t *testing.T) {
	t.Parallel()
	s := serve(t, Limits{Total: 4, PerAddress: 3})
	cs := []*caller{s.call(t, "127.0.0.2")}
	for range 3 {
		cs = append(cs, s.call(t, "127.0.0.1"))
	}
	check(t, "full", cs, true, true, true, true)
	cs = append(cs, s.call(t, "127.0.0.3"))
	check(t, "a third one comes", cs, true, false, true, true, true)
	cs = append(cs, s.call(t, "127.0.0.1"))
	check(t, "the second one again", cs, true, false, false, true, true, true)
}

// Many addresses with one connection each: the oldest of all gives way.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	s := serve(t, Limits{Total: 3, PerAddress: 3})
	var cs []*caller
	for i := range 5 {
		cs = append(cs, s.call(t, fmt.Sprintf("127.0.0.%d", i+1)))
	}
	if s.open() != 3 || s.count(ErrGaveWay) != 2 {
		t.Errorf("%d are open, %v", s.open(), s.dropped)
	}
	check(t, "five", cs, false, false, true, true, true)
}

// Nobody gives way before the grace is over, however many renew their connections without a pause.
func TestGrace(t *testing.T) {
	t.Parallel()
	const grace = 2 * time.Second // in which this machine reads the first byte
	s := serve(t, Limits{Total: 20, PerAddress: 10, Grace: grace})
	go func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }() // the first byte ends the grace
		}
	}()
	var flood sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 15 {
		flood.Go(func() {
			for ctx.Err() == nil {
				c, err := net.DialTimeout("tcp", s.Addr().String(), time.Minute)
				if err != nil {
					continue
				}
				context.AfterFunc(ctx, func() { _ = c.Close() })
				_, _ = c.Read(make([]byte, 1)) // until it is closed
				_ = c.Close()
			}
		})
	}
	defer flood.Wait()
	defer stop()
	time.Sleep(grace)
	for range 5 {
		c, err := net.DialTimeout("tcp", s.Addr().String(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		_, _ = c.Write([]byte("hello"))
		if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
			t.Errorf("shut out: %v", err)
		}
		_ = c.Close()
	}
}

func TestCloseEndsWaiting(t *testing.T) {
	t.Parallel()
	s := serve(t, Limits{Total: 1, PerAddress: 1, Grace: time.Hour})
	first := s.call(t, "127.0.0.1")
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	time.AfterFunc(50*time.Millisecond, func() { _ = s.Close() })
	if _, err := s.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	check(t, "the listener is closed", []*caller{first, {c, nil}}, true, false)
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"10.1.2.3:5": "10.1.2.3/32", "[::ffff:10.1.2.3]:5": "10.1.2.3/32", "[2001:db8:1:2:3:4:5:6]:7": "2001:db8:1:2::/64", "[fe80::1%eth0]:7": "fe80::/64",
	} {
		if got := network(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr))); got.String() != want {
			t.Errorf("%s counts as %s, want %s", addr, got, want)
		}
	}
	if network(&net.UnixAddr{Name: "/x"}).IsValid() {
		t.Error("a path counts as a network")
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for files, want := range map[uint64]int{0: 256, 1024: 256, 1 << 63: 256, 512: 256, 300: 150, 10: 8} {
		if got := share(256, files); got != want {
			t.Errorf("%d of %d files", got, files)
		}
	}
	if Share(256) < 8 {
		t.Error("nobody would get in")
	}
}
