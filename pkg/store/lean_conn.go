package store

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
)

const (
	leanChunk    = 64 << 10 // payload of a signed chunk: what minio-go makes of it
	leanHeadRoom = 4 << 10  // kept free in front of a payload for the head
	leanIdle     = 90 * time.Second
	leanTick     = time.Second
	tlsTimeout   = 15 * time.Second
)

// What a request is doing, for the message of its timeout.
const (
	phaseSend = iota
	phaseAwait
	phaseReceive
	phaseBits = 2 // that they take
)

// leanLimits are how long each phase of a request may last without a step.
type leanLimits struct {
	connect time.Duration // for the whole of TLS's beginning; TCP's is the dialer's
	answer  time.Duration // for the whole head, from the last byte of the request on
	stall   time.Duration // for the next byte, either way
}

func newLeanLimits(cfg *Config) leanLimits {
	return leanLimits{connect: cmp.Or(cfg.Timeout, tlsTimeout), answer: cfg.patience(), stall: cfg.patience()}
}

func (l *leanLimits) of(phase int) time.Duration {
	if phase == phaseAwait {
		return l.answer
	}
	return l.stall
}

// exceeded is the error of a phase that lasted for too long.
func (l *leanLimits) exceeded(phase, status int) error {
	switch phase {
	case phaseSend:
		return errorf(CodeStallTimeout, status, "the store took nothing of the request for %v", l.stall)
	case phaseAwait:
		return errorf(CodeAnswerTimeout, status, "the store did not answer for %v", l.answer)
	}
	return errorf(CodeStallTimeout, status, "nothing came of the answer's rest for %v", l.stall)
}

// Why a connection was given up from outside.
const (
	verdictNone = iota
	verdictCanceled
	verdictTimeout
)

// A leanConn is one connection to a host. One goroutine at a time uses it; what
// the watchdog and cancelled contexts reach is marked.
type leanConn struct {
	e    *leanEngine
	sock *socket
	tls  *tls.Conn // above sock; nil without TLS
	*leanMemory

	located    string // the region of this bucket is known
	locatedBy  uint32 // the generation of the regions then
	answeredAt time.Time

	reused   bool // not the first request
	hasty    bool // an upload was sent without a look at the connection
	answered bool // a byte of the answer has arrived
	broken   bool // not to be used again
	phase    int

	count   uint32        // of steps
	steps   atomic.Uint32 // changes whenever something moves: the count and the phase
	busy    atomic.Bool
	verdict atomic.Int32
	rested  atomic.Bool // nothing was asked on it for a while

	mu      sync.Mutex      // for what follows, and for deadlines
	done    <-chan struct{} // of the context that can interrupt
	unwatch func() bool
	timer   *time.Timer
	closed  bool
	seen    uint32 // steps at the last tick
	since   time.Time
}

func (e *leanEngine) dial(ctx context.Context, tr *Trace) (*leanConn, error) {
	noted, done := tr.connecting(ctx)
	nc, err := e.dialer.connect(noted, e.addr)
	done()
	if err != nil {
		return nil, err
	}
	e.dialed.Add(1)
	c := &leanConn{e: e, since: time.Now()}
	e.beat(c.since)
	if c.sock, err = newSocket(c, nc); err == nil && e.tls != nil {
		err = c.secure(ctx, tr)
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.timer = time.AfterFunc(e.tick, c.watchdog)
	return c, nil
}

func (c *leanConn) secure(ctx context.Context, tr *Trace) error {
	own, cancel := context.WithTimeout(ctx, c.e.limits.connect)
	defer cancel()
	began := time.Now()
	c.tls = tls.Client(c.sock, c.e.tls)
	err := c.tls.HandshakeContext(own)
	if err != nil && own.Err() != nil && ctx.Err() == nil {
		return errorf(CodeConnectTimeout, 0, "TLS did not begin within %v", c.e.limits.connect)
	}
	if err != nil {
		c.sock.flushNow() // the store may want to know why
		return err
	}
	if tr != nil && tr.phases != nil {
		tr.phases.add(PhaseTLS, time.Since(began))
	}
	err = c.sock.flush()
	c.sock.own = nil
	return err
}

// watch has ctx interrupt the connection. A worker comes with the same context
// again and again, so that nearly always there is nothing to do.
func (c *leanConn) watch(ctx context.Context) {
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

// interrupt ends the request on the connection, if it is one under the context
// that has ended.
func (c *leanConn) interrupt(done <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == done && c.busy.Load() {
		c.giveUp(verdictCanceled)
	}
}

func (c *leanConn) giveUp(verdict int32) {
	if c.verdict.CompareAndSwap(verdictNone, verdict) {
		c.sock.SetDeadline(time.Unix(1, 0))
	}
}

// watchdog looks at the connection now and then, so that requests need no
// timers of their own.
func (c *leanConn) watchdog() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	now, steps := time.Now(), c.steps.Load()
	c.e.beat(now)
	moved := steps != c.seen
	if moved {
		c.seen, c.since = steps, now
	}
	quiet := now.Sub(c.since)
	idle := false
	switch busy := c.busy.Load(); {
	case busy && quiet > c.e.limits.of(int(steps&(1<<phaseBits-1))):
		c.giveUp(verdictTimeout)
	case busy && !moved:
		// Have it look again: the end of a half-closed connection that was
		// there before the request makes no wake-up of its own, nor does an
		// answer wake somebody who is still sending.
		c.sock.SetDeadline(time.Unix(1, 0))
	case !busy:
		c.rested.Store(!moved)
		idle = quiet > leanIdle
	}
	c.timer.Reset(c.e.tick)
	c.mu.Unlock()
	if idle && c.e.forget(c) {
		c.close()
	}
}

// goOn says whether err is only the watchdog's nudge.
func (c *leanConn) goOn(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdict.Load() != verdictNone {
		return false
	}
	return c.sock.SetDeadline(time.Time{}) == nil
}

func (c *leanConn) close() {
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
	if c.tls != nil && !c.sock.unsent() { // the rest of a request that was given up is not for the store
		c.tls.CloseWrite() // says good-bye, which must not wait for anybody
		c.sock.flushNow()
	}
	c.sock.Close()
}

// moved tells the watchdog that the request has come a step further.
func (c *leanConn) moved(phase int) {
	c.phase = phase
	c.step()
}

// step does so without a change of phase.
func (c *leanConn) step() {
	c.count++
	c.steps.Store(c.count<<phaseBits | uint32(c.phase))
}

// begin gets ready for a request. It returns errStale where the connection
// turns out to be unusable.
func (c *leanConn) begin(ctx context.Context) error {
	c.watch(ctx)
	c.busy.Store(true)
	c.answered, c.broken = false, false
	c.sock.begin()
	c.moved(phaseSend)
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.verdict.Load() != verdictNone {
		return errStale
	}
	return nil
}

// send sends b; more follows.
func (c *leanConn) send(b []byte) error {
	if c.tls == nil {
		return c.sock.send(b)
	}
	_, err := c.tls.Write(b)
	return err
}

// sendAndAwait sends b, the last of a request, and receives the first bytes of
// the answer. up says that b ends a payload.
func (c *leanConn) sendAndAwait(b []byte, tr *Trace, up bool) error {
	if c.tls == nil {
		c.sock.out = b
	} else if _, err := c.tls.Write(b); err != nil {
		return err
	}
	c.sock.endsWith(tr, up)
	c.moved(phaseAwait)
	if err := c.sock.await(); err != nil {
		return err
	}
	c.borrow()
	return c.fill(tr)
}

// fill receives more into the free end of c.in.
func (c *leanConn) fill(tr *Trace) error {
	n, err := c.read(c.in[c.w:])
	if n == 0 {
		return err
	}
	c.w += n
	c.answered = true
	c.broken = c.broken || err != nil // TLS may know already that this was the last
	tr.sawFirstByte()
	return nil
}

func (c *leanConn) read(p []byte) (int, error) {
	if c.tls == nil {
		return c.sock.Read(p)
	}
	return c.tls.Read(p)
}

// drop receives up to n bytes and throws them away; io.EOF where the
// connection ended before.
func (c *leanConn) drop(n int64) (dropped int64, err error) {
	if c.tls == nil {
		return c.sock.discard(n)
	}
	return c.readAway(n)
}

func (c *leanConn) readAway(n int64) (dropped int64, err error) {
	buf := receiveBuffers.Get().(*[]byte)
	defer receiveBuffers.Put(buf)
	for dropped < n && err == nil {
		var k int
		k, err = c.read((*buf)[:min(n-dropped, int64(len(*buf)))])
		dropped += int64(k)
		c.step()
	}
	if dropped == n {
		err = nil
	}
	return dropped, err
}

// readHead receives the answer's head. What follows it is left in c.in.
func (c *leanConn) readHead(tr *Trace, checksums bool) error {
	c.head.reset(checksums)
	for {
		used, done, err := c.head.feed(c.in[c.r:c.w])
		c.r += used
		switch {
		case err != nil:
			return err
		case done && c.head.status == 101:
			return badAnswer(101, "the store switches protocols, which nobody asked for")
		case done && c.head.status >= 200:
			c.moved(phaseReceive)
			return nil
		case done:
			c.head.next() // an interim answer; the limit on the size bounds how many
			continue
		}
		if err := c.more(tr); err != nil {
			return err
		}
	}
}

// more makes room in c.in and receives.
func (c *leanConn) more(tr *Trace) error {
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
