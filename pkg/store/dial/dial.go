// Package dial makes the TCP and TLS connections of all engines, with the
// options of a store's configuration.
package dial

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"warp/pkg/store"
)

const (
	dialTimeout = 10 * time.Second
	// TLSTimeout is how long TLS may take to begin where Options.Timeout does not say.
	TLSTimeout = 15 * time.Second
)

// A Dialer makes the connections of one host, all in the same way.
type Dialer struct {
	net.Dialer
	send, receive int // socket buffers; 0 leaves them to the system
	sources       []netip.Addr
	turn          atomic.Uint64 // of sources
}

// NewDialer returns a dialer with the options of cfg.
func NewDialer(cfg *store.Config) *Dialer {
	return &Dialer{
		Dialer: net.Dialer{Timeout: cmp.Or(cfg.Timeout, dialTimeout), KeepAlive: 30 * time.Second},
		send:   cfg.SendBuffer, receive: cfg.ReceiveBuffer, sources: cfg.SourceIPs,
	}
}

// Connect makes a TCP connection. Source addresses take turns.
func (d *Dialer) Connect(ctx context.Context, target string) (*net.TCPConn, error) {
	via := d.Dialer
	if n := uint64(len(d.sources)); n > 0 {
		via.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(d.sources[(d.turn.Add(1)-1)%n], 0))
	}
	any, err := via.DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, err
	}
	conn := any.(*net.TCPConn) // as net promises
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

// onThisMachine says whether both ends of a connection are here.
func onThisMachine(conn *net.TCPConn) bool {
	local, ok1 := conn.LocalAddr().(*net.TCPAddr)
	remote, ok2 := conn.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && (remote.IP.IsLoopback() || remote.IP.Equal(local.IP))
}

// ProxyFor returns the proxy of the environment, unless the address is given:
// then it is there that the connection must go.
func ProxyFor(addr string) func(*http.Request) (*url.URL, error) {
	if addr != "" {
		return nil
	}
	return http.ProxyFromEnvironment
}
