// Package dial makes the TCP and TLS connections of all engines, with the options of a store's
// configuration.
package dial

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"warp/pkg/store"
)

const (
	dialTimeout = 10 * time.Second
	// TLSTimeout limits a TLS handshake unless Options.Timeout does.
	TLSTimeout = 15 * time.Second
)

// A Dialer makes the connections to one host.
type Dialer struct {
	net.Dialer
	send, receive int // socket buffers; 0 leaves them to the system
	sources       []netip.Addr
	turn          atomic.Uint64 // turns through the sources
}

// NewDialer returns a dialer with the options of cfg.
func NewDialer(cfg *store.Config) *Dialer {
	return &Dialer{
		Dialer: net.Dialer{Timeout: cmp.Or(cfg.Timeout, dialTimeout), KeepAlive: 30 * time.Second},
		send:   cfg.SendBuffer, receive: cfg.ReceiveBuffer, sources: cfg.SourceIPs,
	}
}

// Connect makes a TCP connection. It uses the source addresses in turn.
func (d *Dialer) Connect(ctx context.Context, target string) (*net.TCPConn, error) {
	via := d.Dialer
	if n := uint64(len(d.sources)); n > 0 {
		via.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(d.sources[(d.turn.Add(1)-1)%n], 0))
	}
	any, err := via.DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, err
	}
	conn := any.(*net.TCPConn) // net guarantees the type
	if err := d.tune(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (d *Dialer) tune(tcp *net.TCPConn) error {
	if onThisMachine(tcp) {
		withoutPacing(tcp)
	}
	if d.send > 0 {
		if err := tcp.SetWriteBuffer(d.send); err != nil {
			return err
		}
	}
	if d.receive > 0 {
		return tcp.SetReadBuffer(d.receive)
	}
	return nil
}

// onThisMachine reports whether both ends of a connection are on this machine.
func onThisMachine(conn *net.TCPConn) bool {
	local, ok1 := conn.LocalAddr().(*net.TCPAddr)
	remote, ok2 := conn.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && (remote.IP.IsLoopback() || remote.IP.Equal(local.IP))
}

// ProxyFor returns a function that finds the environment's proxy, or nil if the address to connect
// to is given.
func ProxyFor(addr string) func(*http.Request) (*url.URL, error) {
	if addr != "" {
		return nil
	}
	return http.ProxyFromEnvironment
}

// DefaultPort returns the default port of a scheme.
func DefaultPort(tls bool) string {
	if tls {
		return "443"
	}
	return "80"
}

// WithPort returns the host with its scheme's default port if it has none.
func WithPort(host string, tls bool) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), DefaultPort(tls))
}
