// Package nethttp contains what engines over net/http share: a transport with the options of a
// store's configuration, and traces of the requests that a library sends through it.
package nethttp

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/dial"
)

// NewTransport returns a transport for one host that waits for answers as long as given. If a has
// an address to dial, it connects there, whatever a's name resolves to. So each address of a name
// can be a separate host while TLS still uses the name.
func NewTransport(cfg *store.Config, a store.Address, answer time.Duration, dialed *atomic.Int64) (*http.Transport, error) {
	dialer, own := dial.NewDialer(cfg), dial.WithPort(a.Name, cfg.TLS)
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, target string) (net.Conn, error) {
			if a.Dial != "" && (target == own || strings.HasSuffix(target, "."+own)) { // or with a bucket in front
				target = a.Dial
			}
			dialed.Add(1)
			conn, err := dialer.Connect(ctx, target)
			if err != nil {
				return nil, err
			}
			return &timeoutConn{conn, answer}, nil
		},
		Proxy:        dial.ProxyFor(a.Dial),
		MaxIdleConns: 0,
		// minio-go sends up to four parts of an upload at a time.
		MaxIdleConnsPerHost:   4 * max(cfg.Concurrency, 4),
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   cmp.Or(cfg.Timeout, dial.TLSTimeout),
		ResponseHeaderTimeout: answer,
		ExpectContinueTimeout: 2 * time.Second,
		// Objects must arrive as they are stored, or lengths mean nothing.
		DisableCompression: true,
		DisableKeepAlives:  cfg.NoKeepAlive,
		ForceAttemptHTTP2:  cfg.HTTP2, // net/http does not do it with a custom dialer
		WriteBufferSize:    bufferSize(cfg.Concurrency),
		ReadBufferSize:     bufferSize(cfg.Concurrency),
	}
	if !cfg.TLS {
		return t, nil
	}
	tlsConfig, err := dial.NewTLSConfig(cfg)
	if err != nil {
		return nil, err
	}
	t.TLSClientConfig = tlsConfig
	return t, nil
}

// plainTimeout limits the wait for the answer in a [PlainTransport].
const plainTimeout = 5 * time.Second

// PlainTransport returns a transport for other requests to the store, such as one for credentials.
// It connects as bookkeeping does.
func PlainTransport(cfg *store.Config) (http.RoundTripper, error) {
	return NewTransport(cfg.ForAdmin(), store.Address{}, plainTimeout, new(atomic.Int64))
}

// A timeoutConn fails if it makes no progress for too long. A store that freezes in the middle of
// a body would otherwise block preparation or clean-up for ever.
type timeoutConn struct {
	net.Conn
	timeout time.Duration
}

func (c *timeoutConn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write also starts the wait for the answer, because net/http may have been reading since the
// previous one.
func (c *timeoutConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// bufferSize divides 4 MiB among the connections. Thousands of them with large buffers would take
// most of the process's memory.
func bufferSize(connections int) int {
	return min(max(4<<20/max(connections, 1), 4<<10), 64<<10)
}
