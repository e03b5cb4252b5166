package httpclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/dial"
	"warp/pkg/store/nethttp"
)

const (
	headRoom      = 4 << 10 // free space for the head in front of a payload
	maxIdle       = 90 * time.Second
	watchInterval = time.Second
)

// Phases of a request, for the message of its timeout.
const (
	phaseSend = iota
	phaseAwait
	phaseReceive
	phaseBits = 2 // bits that a phase needs
)

// timeouts limit how long each phase of a request may last without progress.
type timeouts struct {
	connect time.Duration // for the TLS handshake; the dialer limits the TCP handshake
	answer  time.Duration // for the whole head, from the last byte of the request on
	stall   time.Duration // for the next byte, in either direction
}

func newTimeouts(cfg *store.Config) timeouts {
	return timeouts{connect: cmp.Or(cfg.Timeout, dial.TLSTimeout), answer: cfg.StallTimeout(), stall: cfg.StallTimeout()}
}

func (l *timeouts) forPhase(phase int) time.Duration {
	if phase == phaseAwait {
		return l.answer
	}
	return l.stall
}

// exceeded returns the error of a phase that lasted too long.
func (l *timeouts) exceeded(phase, status int) error {
	switch phase {
	case phaseSend:
		return store.Errorf(store.CodeStallTimeout, status, "the store read nothing of the request for %v", l.stall)
	case phaseAwait:
		return store.Errorf(store.CodeAnswerTimeout, status, "the store did not answer for %v", l.answer)
	}
	return store.Errorf(store.CodeStallTimeout, status, "the rest of the answer did not arrive for %v", l.stall)
}

// Reasons to abort a request from another goroutine.
const (
	verdictNone = iota
	verdictCanceled
	verdictTimeout
)

// A Conn is one connection to a host. One goroutine at a time uses it. The fields that the
// watchdog and canceled contexts use as well are atomic or guarded by mu.
type Conn struct {
	pool *pool
	sock *socket
	tls  *tls.Conn // above sock; nil without TLS
	*memory

	answeredAt time.Time

	reused          bool // not the first request
	livenessSkipped bool // an upload was sent without a look at the connection
	answered        bool // a byte of the answer has arrived
	received        bool // the whole answer has arrived
	broken          bool // not to be used again
	phase           int

	count   uint32        // of steps
	steps   atomic.Uint32 // changes with all progress: the count and the phase
	busy    atomic.Bool
	verdict atomic.Int32
	idle    atomic.Bool // it has not been used for a while

	until   time.Time // no longer than this for the answer to Expect; zero = no limit of its own
	unasked bool      // the payload was sent without that answer

	mu      sync.Mutex      // guards the fields below, and deadlines
	done    <-chan struct{} // of the context that can interrupt the request
	unwatch func() bool
	timer   *time.Timer
	closed  bool
	seen    uint32 // the value of steps at the last tick
	since   time.Time
}

func (p *pool) dial(ctx context.Context, tr *store.Trace) (*Conn, error) {
	tr.NoWireTime() // opening a connection takes the client's time, the network's and the store's
	noted, done := nethttp.WatchDial(ctx, tr)
	nc, err := p.dialer.Connect(noted, p.addr)
	done()
	if err != nil {
		return nil, err
	}
	p.counters.Connections.Add(1)
	c := &Conn{pool: p, since: time.Now()}
	p.noteSecond(c.since)
	if c.sock, err = newSocket(c, nc); err == nil && p.tls != nil {
		err = c.secure(ctx, tr)
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.timer = time.AfterFunc(p.tick, c.watchdog)
	return c, nil
}

func (c *Conn) secure(ctx context.Context, tr *store.Trace) error {
	own, cancel := context.WithTimeout(ctx, c.pool.limits.connect)
	defer cancel()
	began := time.Now()
	c.tls = tls.Client(c.sock, c.pool.tls)
	err := c.tls.HandshakeContext(own)
	if err != nil && own.Err() != nil && ctx.Err() == nil {
		return store.Errorf(store.CodeConnectTimeout, 0, "the TLS handshake did not start within %v", c.pool.limits.connect)
	}
	if err != nil {
		c.sock.flushNow() // the store may want to know why
		return err
	}
	if phases := tr.Phases(); phases != nil {
		phases.Add(store.PhaseTLS, time.Since(began))
	}
	err = c.sock.flush()
	c.sock.own = nil
	return err
}

// watch lets the end of ctx interrupt the connection. A worker uses the same context again and
// again, so there is rarely anything to do.
func (c *Conn) watch(ctx context.Context) {
	done := ctx.Done()
	if done == c.done {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unwatch != nil {
		c.unwatch()
		c.unwatch = nil
	}
	if c.done = done; done != nil {
		c.unwatch = context.AfterFunc(ctx, func() { c.interrupt(done) })
	}
}

// interrupt aborts the request on the connection if its context is the one that has ended.
func (c *Conn) interrupt(done <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == done && c.busy.Load() {
		c.abort(verdictCanceled)
	}
}

func (c *Conn) abort(verdict int32) {
	if c.verdict.CompareAndSwap(verdictNone, verdict) {
		c.sock.SetDeadline(time.Unix(1, 0))
	}
}

// watchdog checks the connection periodically, so that requests need no timers of their own.
func (c *Conn) watchdog() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	now, steps := time.Now(), c.steps.Load()
	c.pool.noteSecond(now)
	moved := steps != c.seen
	if moved {
		c.seen, c.since = steps, now
	}
	quiet := now.Sub(c.since)
	idle := false
	switch busy := c.busy.Load(); {
	case busy && quiet > c.pool.limits.forPhase(int(steps&(1<<phaseBits-1))):
		c.abort(verdictTimeout)
	case busy && !moved:
		// Wake the request up to check again. Nothing else wakes it if the connection was
		// half-closed before the request, or if an answer arrives while the goroutine is still
		// sending.
		c.sock.SetDeadline(time.Unix(1, 0))
	case !busy:
		c.idle.Store(!moved)
		idle = quiet > maxIdle
	}
	c.timer.Reset(c.pool.tick)
	c.mu.Unlock()
	if idle && c.pool.removeIdle(c) {
		c.close()
	}
}

// resume reports whether err is only the watchdog's wake-up, after which the request continues.
func (c *Conn) resume(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdict.Load() != verdictNone || c.sock.SetDeadline(time.Time{}) != nil {
		return false
	}
	return c.until.IsZero() || time.Now().Before(c.until)
}

func (c *Conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.timer.Stop()
	if c.unwatch != nil {
		c.unwatch()
	}
	if c.tls != nil && !c.sock.unsent() { // the rest of an aborted request is not for the store
		c.tls.CloseWrite() // sends the TLS alert, which must not wait
		c.sock.flushNow()
	}
	c.sock.Close()
}

// enterPhase tells the watchdog that the request has entered a phase.
func (c *Conn) enterPhase(phase int) {
	c.phase = phase
	c.progress()
}

// progress tells the watchdog that the request has made progress within its phase.
func (c *Conn) progress() {
	c.count++
	c.steps.Store(c.count<<phaseBits | uint32(c.phase))
}

// begin prepares for a request. It returns errStale if the connection is unusable.
func (c *Conn) begin(ctx context.Context) error {
	c.watch(ctx)
	c.busy.Store(true)
	c.answered, c.received, c.broken, c.unasked = false, false, false, false
	c.sock.begin()
	c.enterPhase(phaseSend)
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.verdict.Load() != verdictNone {
		return errStale
	}
	return nil
}

// Send sends b; more follows.
func (c *Conn) Send(b []byte) error {
	if c.tls == nil {
		return c.sock.send(b)
	}
	_, err := c.tls.Write(b)
	return err
}

// SendLast sends b, the last bytes of a request, and receives the first bytes of the answer.
// endsPayload reports whether b ends a payload.
func (c *Conn) SendLast(b []byte, tr *store.Trace, endsPayload bool) error {
	if c.tls == nil {
		c.sock.out = b
	} else if _, err := c.tls.Write(b); err != nil {
		return err
	}
	c.sock.endRequest(tr, endsPayload)
	c.enterPhase(phaseAwait)
	if err := c.sock.await(); err != nil {
		return err
	}
	c.acquireMemory()
	return c.fill(tr)
}

// fill receives into the free end of c.in.
func (c *Conn) fill(tr *store.Trace) error {
	n, err := c.read(c.in[c.w:])
	if n == 0 {
		return err
	}
	c.w += n
	c.answered = true
	c.broken = c.broken || err != nil // TLS may already know that this was the last data
	tr.Received()
	return nil
}

func (c *Conn) read(p []byte) (int, error) {
	if c.tls == nil {
		return c.sock.Read(p)
	}
	return c.tls.Read(p)
}

// discard receives and discards up to n bytes. It returns io.EOF if the connection ended before.
func (c *Conn) discard(n int64) (dropped int64, err error) {
	if c.tls == nil {
		return c.sock.discard(n)
	}
	return c.readAndDiscard(n)
}

func (c *Conn) readAndDiscard(n int64) (dropped int64, err error) {
	buf := discardBuffers.Get().(*[]byte)
	defer discardBuffers.Put(buf)
	for dropped < n && err == nil {
		var k int
		k, err = c.read((*buf)[:min(n-dropped, int64(len(*buf)))])
		dropped += int64(k)
		c.progress()
	}
	if dropped == n {
		err = nil
	}
	return dropped, err
}

// readHead receives the answer's head. What follows it is left in c.in.
func (c *Conn) readHead(tr *store.Trace, keeps string) error {
	c.head.reset(keeps)
	for {
		used, done, err := c.head.feed(c.in[c.r:c.w])
		c.r += used
		switch {
		case err != nil:
			return err
		case done && c.head.Status == 101:
			return store.BadAnswer(101, "the store switched protocols without being asked")
		case done && c.head.Status >= 200:
			c.enterPhase(phaseReceive)
			return nil
		case done:
			c.head.next() // an interim answer; the size limit also limits how many there are
			continue
		}
		if err := c.receiveMore(tr); err != nil {
			return err
		}
	}
}

// receiveMore moves unread bytes to the front of c.in and receives more after them.
func (c *Conn) receiveMore(tr *store.Trace) error {
	if c.r > 0 {
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	err := c.fill(tr)
	if err == io.EOF && c.answered {
		return io.ErrUnexpectedEOF
	}
	return err
}
