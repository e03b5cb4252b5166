package store

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"sync/atomic"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	// A store that holds an answer back longer than this has failed; without
	// a bound a frozen store would hold prepare up for ever.
	answerTimeout = 2 * time.Minute
	// Bookkeeping is small: markers, buckets, clean-up. Nobody should have to
	// wait for minutes to learn that the store is frozen.
	deskTimeout = 45 * time.Second

	// DeskTimeout is how long a request of bookkeeping may take.
	DeskTimeout = deskTimeout
)

// newTransport returns a transport for one host that waits for answers as long
// as given. With addr it connects there, whatever the name in the URL is, so
// that each address of a name can be a host of its own while TLS still sees
// the name.
func newTransport(cfg *Config, addr string, answer time.Duration, dialed *atomic.Int64) (*http.Transport, error) {
	dial := newDialer(cfg)
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, target string) (net.Conn, error) {
			if addr != "" {
				target = addr
			}
			dialed.Add(1)
			conn, err := dial.connect(ctx, target)
			if err != nil {
				return nil, err
			}
			return &impatientConn{conn, answer}, nil
		},
		Proxy:        proxyFor(addr),
		MaxIdleConns: 0,
		// minio-go sends up to four parts of an upload at a time.
		MaxIdleConnsPerHost:   4 * max(cfg.Concurrency, 4),
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   cmp.Or(cfg.Timeout, tlsTimeout),
		ResponseHeaderTimeout: answer,
		ExpectContinueTimeout: 10 * time.Second,
		// Objects must arrive as they are stored, or lengths mean nothing.
		DisableCompression: true,
		DisableKeepAlives:  cfg.NoKeepAlive,
		ForceAttemptHTTP2:  cfg.HTTP2, // net/http does not by itself where it does not dial by itself
		WriteBufferSize:    bufferSize(cfg.Concurrency),
		ReadBufferSize:     bufferSize(cfg.Concurrency),
	}
	if !cfg.TLS {
		return t, nil
	}
	tlsConfig, err := newTLSConfig(cfg)
	if err != nil {
		return nil, err
	}
	t.TLSClientConfig = tlsConfig
	return t, nil
}

// PlainTransport is for requests to the store that are none of S3's, such as
// the one for credentials. It reaches the store as bookkeeping does.
func PlainTransport(cfg *Config) (http.RoundTripper, error) {
	return newTransport(cfg.forDesk(), "", metadataTimeout, new(atomic.Int64))
}

// A dialer makes the connections of one host, all in the same way.
type dialer struct {
	net.Dialer
	send, receive int // socket buffers; 0 leaves them to the system
	sources       []netip.Addr
	turn          atomic.Uint64 // of sources
}

func newDialer(cfg *Config) *dialer {
	return &dialer{
		Dialer: net.Dialer{Timeout: cmp.Or(cfg.Timeout, dialTimeout), KeepAlive: 30 * time.Second},
		send:   cfg.SendBuffer, receive: cfg.ReceiveBuffer, sources: cfg.SourceIPs,
	}
}

// connect makes a TCP connection. Source addresses take turns.
func (d *dialer) connect(ctx context.Context, target string) (*net.TCPConn, error) {
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

func (d *dialer) tune(tcp *net.TCPConn) error {
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

// proxyFor returns the proxy of the environment, unless the address is given:
// then it is there that the connection must go.
func proxyFor(addr string) func(*http.Request) (*url.URL, error) {
	if addr != "" {
		return nil
	}
	return http.ProxyFromEnvironment
}

// An impatientConn fails when nothing moves for too long: a store that freezes
// in the middle of a body would otherwise hold prepare or clean-up for ever.
type impatientConn struct {
	net.Conn
	patience time.Duration
}

func (c *impatientConn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write begins the wait for the answer too, for which net/http may have been
// reading since the answer before.
func (c *impatientConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// bufferSize shares 4 MiB among the connections, since thousands of them with
// large buffers would be most of the process.
func bufferSize(connections int) int {
	return min(max(4<<20/max(connections, 1), 4<<10), 64<<10)
}

func newTLSConfig(cfg *Config) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: cfg.Insecure, // the user asked for it by --insecure
		ClientSessionCache: tls.NewLRUClientSessionCache(1024),
		// Small records at first are for readers of web pages; here they are more records for the same request.
		DynamicRecordSizingDisabled: true,
	}
	var err error
	if c.Certificates, err = cfg.clientCertificates(); err != nil {
		return nil, fmt.Errorf("read the client certificate: %w", err)
	}
	pem, err := cfg.authorities()
	if err != nil || pem == nil {
		return c, err
	}
	// The system's roots stay trusted: a private CA is an addition.
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the CA file: %s holds no PEM certificate", cfg.CAFile)
	}
	c.RootCAs = pool
	return c, nil
}

// clientCertificates are those to show to the store.
func (cfg *Config) clientCertificates() ([]tls.Certificate, error) {
	var own tls.Certificate
	var err error
	switch {
	case cfg.CertPEM != nil:
		own, err = tls.X509KeyPair(cfg.CertPEM, cfg.KeyPEM)
	case cfg.ClientCert != "":
		own, err = tls.LoadX509KeyPair(cfg.ClientCert, cfg.ClientKey)
	default:
		return nil, nil
	}
	return []tls.Certificate{own}, err
}

// authorities is the content of the CA file; nil where none is given.
func (cfg *Config) authorities() ([]byte, error) {
	if cfg.CAPEM != nil || cfg.CAFile == "" {
		return cfg.CAPEM, nil
	}
	pem, err := os.ReadFile(cfg.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the CA file: %w", err)
	}
	return pem, nil
}
