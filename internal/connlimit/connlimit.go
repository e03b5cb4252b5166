// Package connlimit limits the connections that strangers can hold to a
// listener: their number, in all and from one address, and their time. A new
// connection is always accepted; if there is no room, the oldest one is closed.
package connlimit

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits limit the resources of strangers.
type Limits struct {
	Total      int // connections
	PerAddress int // connections from one IPv4 address, or one IPv6 network of 64 bits
	// Grace is the time for which a new connection is not closed for others. If all
	// connections are that new, further ones wait in the system's queue, where they cost
	// no descriptor. So strangers that reconnect in a loop do not shut out others.
	Grace time.Duration
	// Timeout ends a connection that was not admitted; 0 = never.
	Timeout time.Duration
	// Dropped, if not nil, is called for connections that are closed here.
	Dropped func(from net.Addr, why error)
}

// Why a connection was closed.
var (
	ErrGaveWay = errors.New("it gave way to a newer connection, because too many others were open")
	ErrTimeout = errors.New("it took too long")
)

// A Listener accepts connections within limits.
type Listener struct {
	net.Listener
	limits Limits
	closed chan struct{}
	close  func()

	mu        sync.Mutex
	strangers []*Conn // the oldest first
}

// Listen returns a listener that limits the connections of l.
func Listen(l net.Listener, limits Limits) *Listener {
	closed := make(chan struct{})
	return &Listener{Listener: l, limits: limits, closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

// A Conn is a connection that counts until it is admitted or closed.
type Conn struct {
	net.Conn
	listener *Listener
	from     netip.Prefix
	since    time.Time
	timeout  *time.Timer
}

// Accept waits for a connection. If there is no room for it, an older one is closed.
func (l *Listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: raw, listener: l, from: network(raw.RemoteAddr())}
	for {
		oldest, wait := l.add(c)
		switch {
		case wait > 0:
			if !l.pause(wait) {
				_ = raw.Close()
				return nil, net.ErrClosed
			}
		case oldest != nil:
			l.drop(oldest, ErrGaveWay)
		default:
			return c, nil
		}
	}
}

// add counts the connection. If there is no room, it returns the connection to close
// first, or how long to wait until one may be closed.
func (l *Listener) add(c *Conn) (oldest *Conn, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if oldest = l.oldest(c.from); oldest != nil {
		return oldest, l.limits.Grace - time.Since(oldest.since)
	}
	c.since = time.Now()
	if l.limits.Timeout > 0 {
		c.timeout = time.AfterFunc(l.limits.Timeout, func() { l.drop(c, ErrTimeout) })
	}
	l.strangers = append(l.strangers, c)
	return nil, 0
}

// oldest returns the connection to close for a new one from a network: the oldest of that
// network if its limit is reached, or of the network with the most connections if the
// total is reached, or nil if there is room. The lock is held.
func (l *Listener) oldest(from netip.Prefix) *Conn {
	count := map[netip.Prefix]int{}
	for _, c := range l.strangers {
		count[c.from]++
	}
	largest := from
	if count[from] < l.limits.PerAddress {
		if len(l.strangers) < l.limits.Total {
			return nil
		}
		for _, c := range l.strangers {
			if count[c.from] > count[largest] {
				largest = c.from
			}
		}
	}
	for _, c := range l.strangers {
		if c.from == largest {
			return c
		}
	}
	return nil
}

func (l *Listener) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.closed:
		return false
	}
}

// drop closes a connection that still counts.
func (l *Listener) drop(c *Conn, why error) {
	if l.remove(c) {
		_ = c.Conn.Close()
		if l.limits.Dropped != nil {
			l.limits.Dropped(c.RemoteAddr(), why)
		}
	}
}

// remove stops counting a connection, and reports whether it counted.
func (l *Listener) remove(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.strangers, c)
	if i < 0 {
		return false
	}
	l.strangers = slices.Delete(l.strangers, i, i+1)
	if c.timeout != nil {
		c.timeout.Stop()
	}
	return true
}

// Close ends the listener; the connections stay.
func (l *Listener) Close() error {
	l.close()
	return l.Listener.Close()
}

// Admit exempts the connection from the limits, once its peer has proved who it is. It
// reports whether the connection was still open.
func (c *Conn) Admit() bool { return c.listener.remove(c) }

// Close closes the connection.
func (c *Conn) Close() error {
	c.listener.remove(c)
	return c.Conn.Close()
}

// network returns the network for which an address counts, since an IPv6 host can use
// all addresses of its network.
func network(addr net.Addr) netip.Prefix {
	parsed, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return netip.Prefix{} // all other addresses count as one network
	}
	ip := parsed.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // cannot fail
	return p
}
