package httpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/dial"
)

// A pool is the transport over connections of warp's own. It keeps idle connections to one host.
type pool struct {
	api         *API
	host        string // for the Host header
	agent       string // the line end of Host, and the User-Agent header
	addr        string // the address to connect to
	tls         *tls.Config
	noKeepAlive bool // no connection is used again
	noRepeat    bool // no request is sent twice
	piece       int  // payload is sent in pieces of this size
	dialer      *dial.Dialer
	limits      timeouts
	tick        time.Duration
	memory      sync.Pool       // of *memory
	second      atomic.Int64    // the current time for signatures
	counters    *store.Counters // shared by all hosts
	neverAsks   atomic.Bool     // the store takes payload without answering Expect

	mu   sync.Mutex
	idle []*Conn
	over bool // no more connections become idle
}

func newPool(cfg *store.Config, a store.Address, api *API, counters *store.Counters) (*pool, error) {
	p := &pool{
		api: api, host: hostHeader(a.Name, cfg.TLS), addr: dial.WithPort(cmp.Or(a.Dial, a.Name), cfg.TLS),
		agent: "\r\nUser-Agent: " + userAgent(cfg, api) + "\r\n", noKeepAlive: cfg.NoKeepAlive, noRepeat: cfg.NoRepeat, piece: pieceSize(cfg),
		dialer: dial.NewDialer(cfg), limits: newTimeouts(cfg), tick: min(watchInterval, cfg.StallTimeout()/4), counters: counters,
	}
	p.memory.New = func() any {
		m := &memory{in: make([]byte, maxLine)}
		if api.NewState != nil {
			m.state = api.NewState()
		}
		return m
	}
	if p.noKeepAlive {
		p.agent += "Connection: close\r\n"
	}
	if !cfg.TLS {
		return p, nil
	}
	var err error
	if p.tls, err = dial.NewTLSConfig(cfg); err != nil {
		return nil, err
	}
	p.tls.ServerName = hostname(a.Name)
	return p, nil
}

func userAgent(cfg *store.Config, api *API) string {
	return "warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") " + api.Name
}

// pieceUnit divides the size of pieces, so that they consist of whole chunks of a signed payload.
const pieceUnit = 64 << 10

// pieceSize is small enough for a piece to stay in the processor's cache between generating and
// sending it. It is large enough that the receiver does not go to sleep between two pieces, which
// would cost more. Many connections share 16 MiB. Under TLS a piece is a record, and the socket
// collects several.
func pieceSize(cfg *store.Config) int {
	if cfg.TLS {
		return 16 << 10
	}
	return min(max(16<<20/max(cfg.Concurrency, 1), pieceUnit), 16*pieceUnit) / pieceUnit * pieceUnit
}

// hostHeader returns the value of the Host header: the host without the scheme's default port.
func hostHeader(name string, tls bool) string {
	host, port, err := net.SplitHostPort(name)
	if err != nil || port != dial.DefaultPort(tls) {
		return name
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func hostname(name string) string {
	if host, _, err := net.SplitHostPort(name); err == nil {
		return host
	}
	return strings.Trim(name, "[]")
}

// send replaces a connection that turns out to be dead before it has answered anything. Each attempt
// uses up one idle connection, so this ends.
func (p *pool) send(ctx context.Context, r *Request, tr *store.Trace) error {
	for {
		c, err := p.acquire(ctx, tr)
		if err != nil {
			return store.AsError(err, int(tr.Status()))
		}
		if err = c.exchange(ctx, r, tr); err == nil {
			if c.unasked && c.head.Status < 300 {
				p.neverAsks.Store(true)
			}
			r.conn, r.reply = c, Reply{Status: c.head.Status, answer: &c.answer, request: r}
			return nil
		}
		if err == store.ErrUnsupported {
			c.abandon()
			return err
		}
		again := c.reused && c.retryable(r, err)
		err = c.failed(ctx, err, tr)
		if !again || ctx.Err() != nil {
			return err
		}
	}
}

// retryable reports whether the connection died between two requests, so that the second one may be
// sent again on another connection. This is the case if none of the request was sent. It is also
// the case if the store closed the connection in good order, and the request changes nothing or is
// an upload that directly followed the previous answer. A reset is an error, because otherwise a
// store that resets connections would look healthy. With noRepeat, a request is sent again only if none
// of it was sent before.
func (c *Conn) retryable(r *Request, err error) bool {
	switch {
	case c.answered:
		return false
	case c.sock.begun:
		return !c.pool.noRepeat && (c.livenessSkipped || !r.mutates()) && err == io.EOF
	}
	return err == errStale || err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// failed discards the connection and returns the error to report.
func (c *Conn) failed(ctx context.Context, err error, tr *store.Trace) error {
	c.abandon()
	var own *store.Error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.verdict.Load() == verdictTimeout:
		return c.pool.limits.exceeded(c.phase, int(tr.Status()))
	case errors.As(err, &own):
		return own
	case err == io.EOF, err == io.ErrUnexpectedEOF, err == errStale, err == errAnswered:
		return store.Errorf(store.CodeClosed, int(tr.Status()), "the store closed the connection before it had answered")
	}
	return store.AsError(err, int(tr.Status()))
}

func (p *pool) receive(ctx context.Context, r *Request, to sink, tr *store.Trace) (int64, error) {
	c := r.conn
	n, err := c.receiveBody(tr, r.Method, to)
	if err == io.ErrUnexpectedEOF && to.payload {
		length := c.head.Length
		if c.head.Chunked {
			length = -1
		}
		err = shortRead(c.head.Status, n, length)
	}
	if err != nil {
		r.conn = nil
		return n, c.failed(ctx, err, tr)
	}
	return n, nil
}

func (p *pool) documents() *store.Documents { return &p.counters.Documents }

func (p *pool) release(r *Request) {
	switch {
	case r.conn == nil: // it has failed
	case r.conn.received:
		r.conn.release()
	default:
		r.conn.abandon()
	}
	r.conn = nil
}

func (p *pool) redirected(ctx context.Context, r *Request, seen time.Duration, tr *store.Trace) error {
	if _, err := p.receive(ctx, r, sink{keep: maxErrorDocument}, tr); err != nil {
		return err
	}
	p.release(r)
	tr.Redirected(seen)
	return nil
}

// acquire returns the idle connection that was used last, or a new one.
func (p *pool) acquire(ctx context.Context, tr *store.Trace) (*Conn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return p.dial(ctx, tr)
}

// release keeps the connection for another request if it can be reused. Bytes after the end of an
// answer would be taken for the next answer.
func (c *Conn) release() {
	p := c.pool
	if c.sock.unsent() {
		c.sock.flushNow() // what TLS has to send as well
	}
	if c.head.Close || p.noKeepAlive || c.broken || c.r != c.w || c.verdict.Load() != verdictNone || c.sock.unsent() {
		c.abandon()
		return
	}
	c.reused = true
	c.releaseMemory()
	c.busy.Store(false)
	p.mu.Lock()
	over := p.over
	if !over {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if over {
		c.close()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.over = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

// abandon closes the connection.
func (c *Conn) abandon() {
	c.busy.Store(false)
	c.close()
	c.releaseMemory()
}

// removeIdle removes c from the idle connections. It returns false if c is in use.
func (p *pool) removeIdle(c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.idle, c)
	if i < 0 {
		return false
	}
	p.idle = slices.Delete(p.idle, i, i+1)
	return true
}
