package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"warp/internal/connlimit"
)

// What strangers may take up of a server. A coordinator with the token is a
// stranger for a few round trips only.
const (
	maxStrangers  = 256
	strangerGrace = 250 * time.Millisecond
	strangerTime  = 5 * time.Second
)

// limitStrangers bounds the connections that have proven nothing yet, so that
// descriptors are left for the run, and a coordinator can connect again.
func (s *Server) limitStrangers(l net.Listener) net.Listener {
	total := connlimit.Share(maxStrangers)
	return &httpRefuser{warp: s.Warp, turnedAway: s.refused, Listener: connlimit.Listen(l, connlimit.Limits{
		Total: total, PerAddress: total * 3 / 4, Grace: strangerGrace, Timeout: strangerTime, Dropped: func(from net.Addr, why error) {
			if errors.Is(why, connlimit.ErrTimeout) {
				why = fmt.Errorf("it did not introduce itself within %v", strangerTime)
			}
			s.refused(from, why)
		},
	})}
}

// admit ends the limits of a connection whose other end has proven itself. It
// reports whether that was in time.
func admit(ws *websocket.Conn) bool {
	return ws.NetConn().(*tls.Conn).NetConn().(*firstRead).Conn.(*connlimit.Conn).Admit()
}

// refused reports a refused connection.
func (s *Server) refused(from net.Addr, why error) {
	if others, say := s.refusals.count(time.Now()); say && others > 0 {
		s.Logf("%s was turned away, as were %d others since the last such line: %v", from, others, why)
	} else if say {
		s.Logf("%s was turned away: %v", from, why)
	}
}

// refusals bounds how often refused connections are reported.
type refusals struct {
	mu     sync.Mutex
	last   time.Time
	said   float64 // of late
	others int     // since then
}

// count counts a refusal. It returns whether to report it, and how many before it
// were not.
func (r *refusals) count(now time.Time) (others int, say bool) {
	const burst, each = 5, 10 * time.Second
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = max(0, r.said-now.Sub(r.last).Seconds()/each.Seconds())
	r.last = now
	if r.said > burst-1 {
		r.others++
		return 0, false
	}
	r.said++
	others, r.others = r.others, 0
	return others, true
}

// An httpRefuser answers plain HTTP. Coordinators of versions without TLS show
// the answer to their users.
type httpRefuser struct {
	net.Listener
	warp       string
	turnedAway func(from net.Addr, why error)
}

// Accept waits for a connection.
func (l *httpRefuser) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &firstRead{Conn: c, listener: l}, nil
}

// A firstRead checks the first bytes of a connection.
type firstRead struct {
	net.Conn
	listener *httpRefuser
	done     bool
}

var errSpeaksHTTP = errors.New("it speaks HTTP without TLS; if it is a coordinator, it is an older version, so use the same version on all machines")

// Read reads the rest. Only one goroutine does that at a time.
func (c *firstRead) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.done || n == 0 {
		return n, err
	}
	c.done = true
	if !bytes.HasPrefix(p[:n], []byte("GET ")) {
		return n, err
	}
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	// Such a version shows 64 characters of the status.
	_, _ = fmt.Fprintf(c.Conn, "HTTP/1.1 426 use one version on all machines: here is warp %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", c.listener.warp)
	c.listener.turnedAway(c.RemoteAddr(), errSpeaksHTTP)
	return 0, errSpeaksHTTP
}
