package transport

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/connlimit"
)

// strangers are clients without the token that hold connections, and make a new one as soon as they have lost one.
type strangers struct {
	lost atomic.Int64 // connections, so far
}

// What strangers do with a connection before they wait for its end.
var strangeThings = map[string]func(c net.Conn) net.Conn{
	"is silent":          func(c net.Conn) net.Conn { return c },
	"begins TLS":         func(c net.Conn) net.Conn { _, _ = c.Write([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}); return c },
	"begins plain HTTP":  func(c net.Conn) net.Conn { _, _ = c.Write([]byte("GE")); return c },
	"begins HTTP":        func(c net.Conn) net.Conn { return overTLS(c, "GET "+socketPath+" HTTP/1.1\r\nHost: x\r\nX-") },
	"begins a websocket": func(c net.Conn) net.Conn { return overTLS(c, upgradeRequest) },
}

const upgradeRequest = "GET " + socketPath + " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"

func overTLS(c net.Conn, text string) net.Conn {
	s := tls.Client(c, strangerTLS())
	_, _ = s.Write([]byte(text))
	return s
}

// gather starts this number of strangers for each kind of misbehaviour. They stay until the test ends.
func gather(t *testing.T, addr string, each int) *strangers {
	t.Helper()
	var members sync.WaitGroup
	over := make(chan struct{})
	t.Cleanup(func() { close(over); members.Wait() })
	c := &strangers{}
	for _, do := range strangeThings {
		for range each {
			members.Go(func() { c.stay(addr, do, over) })
		}
	}
	return c
}

func (c *strangers) stay(addr string, do func(net.Conn) net.Conn, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		raw, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			continue
		}
		gone := make(chan struct{})
		go func() {
			select {
			case <-over:
			case <-gone:
			}
			_ = raw.Close()
		}()
		_ = raw.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.Copy(io.Discard, do(raw)) // until it is closed
		close(gone)
		c.lost.Add(1)
	}
}

// Hundreds of strangers who renew what they lose at once neither keep a coordinator out nor slow down one that is in,
// though they are on its own machine. No test runs beside this one: the strangers take a machine of few cores for itself.
func TestManyStrangers(t *testing.T) {
	addr, _ := serve(t, nil)
	each := 120
	if raceDetector { // their TLS alone would keep it busy
		each = 20
	}
	c := gather(t, addr, each)
	check.Eventually(t, "strangers", func() bool { return c.lost.Load() > int64(each) })
	d := &Dialer{Identity: Identity{Protocol: testProtocol, Warp: "test", Token: testToken}}
	for range 3 {
		check.Eventually(t, "connection that stays", func() bool { // strangers may take the place; try again
			conn, err := d.Connect(t.Context(), addr, nil, handshakeTime)
			if err != nil {
				return false
			}
			defer conn.Close()
			for range 50 {
				if echo(conn) != nil {
					return false
				}
				time.Sleep(10 * time.Millisecond)
			}
			return true
		})
	}
	t.Logf("%d connections of strangers were ended", c.lost.Load())
}

// echo sends a message and waits for its return.
func echo(c *Conn) error {
	err := c.SendBytes(1, []byte("hello"))
	if err == nil {
		_, _, err = c.Receive()
	}
	return err
}

// Strangers who connect and say nothing take up a bounded room, and for a bounded time.
func TestSilentStrangers(t *testing.T) {
	t.Parallel()
	addr, said := serve(t, nil)
	var open atomic.Int64
	var all sync.WaitGroup
	const strangers = maxStrangers
	for range strangers {
		c, err := net.Dial("tcp", addr)
		check.OK(t, err)
		open.Add(1)
		all.Go(func() {
			defer c.Close()
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := c.Read(make([]byte, 1)); isTimeout(err) {
				t.Error("a silent stranger is let stay")
			}
			open.Add(-1)
		})
	}
	room := int64(connlimit.Share(maxStrangers) * 3 / 4) // for one address
	check.Eventually(t, "end of those that are too many", func() bool { return open.Load() <= room })
	if _, err := connect(t, addr, nil); err != nil {
		t.Errorf("nobody gets in any more: %v", err)
	}
	all.Wait()
	if n := said.count("was turned away"); n == 0 || n > 10 {
		t.Errorf("%d lines about %d strangers: %q", n, strangers, said.lines)
	}
	if said.count("others since the last such line") == 0 && said.count("gave way to a newer") == 0 {
		t.Errorf("%q", said.lines)
	}
}

// Each thing that somebody can stop in the middle of has an end soon.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	for name, do := range strangeThings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := net.Dial("tcp", addr)
			check.OK(t, err)
			defer raw.Close()
			_ = raw.SetDeadline(time.Now().Add(time.Minute))
			if _, err := io.Copy(io.Discard, do(raw)); isTimeout(err) {
				t.Error("the connection stays")
			}
		})
	}
	// Nor can somebody stay by asking for something else.
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: strangerTLS()}}
	defer browser.CloseIdleConnections()
	answer, err := browser.Get("https://" + addr + "/")
	check.OK(t, err)
	defer answer.Body.Close()
	if !answer.Close {
		t.Error("a connection is kept for a second request")
	}
}

// A coordinator that is admitted stays for longer than strangers may.
func TestAdmittedIsNoStranger(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	c, err := connect(t, addr, nil)
	check.OK(t, err)
	for until := time.Now().Add(strangerTime + time.Second); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		check.OK(t, echo(c))
	}
}

// A coordinator before protocol 3 shows what is answered to it in place of a websocket.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	addr, said := serve(t, func(s *Server) { s.Warp = "v1.2.3" })
	answer, err := http.Get("http://" + addr + socketPath)
	check.OK(t, err)
	_ = answer.Body.Close()
	if want := "426 use one version on all machines: here is warp v1.2.3"; fmt.Sprintf("%.64s", answer.Status) != want {
		t.Errorf("%q, want %q", answer.Status, want)
	}
	check.Eventually(t, "word of it", func() bool {
		return said.count("it speaks HTTP without TLS; if it is a coordinator, it is an older version") == 1
	})
}

// However many are turned away, few lines say so, and none is left out of them.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	var said notebook
	s := &Server{Logf: said.note}
	from := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}
	for range 1000 {
		s.refused(from, errTokenWrong)
	}
	if len(said.lines) != 5 {
		t.Errorf("%d lines", len(said.lines))
	}
	s.refusals.last = s.refusals.last.Add(-time.Minute)
	s.refused(from, errTokenMissing)
	if last := said.lines[len(said.lines)-1]; !strings.HasPrefix(last, fmt.Sprintf("%s was turned away, as were 995 others", from)) {
		t.Errorf("%q", last)
	}
}
