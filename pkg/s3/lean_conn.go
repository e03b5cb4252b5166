package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"hash"
	"io"
	"net"
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

// A leanConn is one connection to a host with all the memory that requests on
// it need. One goroutine at a time uses it; what the watchdog and cancelled
// contexts reach is marked.
type leanConn struct {
	e    *leanEngine
	nc   net.Conn
	tcp  *rawSocket // of the TCP connection, also under TLS; nil where there is none
	raw  *rawSocket // tcp where it is used for everything: no TLS
	in   []byte     // received, between r and w
	r, w int
	ask  []byte // the request's head
	out  []byte // payload on its way
	kept []byte // the document that was received last
	cut  bool   // it was longer than what is kept

	fields  []leanField // of the request, in the order of their names
	further []leanField // those of them that are still to be appended
	key     string      // of the request, for their values
	sum     hash.Hash   // the checksum of what is uploaded
	scanner xmlScanner
	listing leanListing

	head       leanHead
	signer     leanSigner
	same       leanHeaders
	bucket     string // the signer's region is this bucket's
	generation uint32 // of the engine's regions
	objects    leanStrings
	answeredAt time.Time // the latest answer

	reused   bool // not the first request
	hasty    bool // an upload was sent without a look at the connection
	answered bool // a byte of the answer has arrived
	wrote    bool // a byte of the request is on its way
	broken   bool // not to be used again
	phase    int

	count   uint32        // of steps
	steps   atomic.Uint32 // changes whenever something moves: the count and the phase
	busy    atomic.Bool
	verdict atomic.Int32
	rested  atomic.Bool // nothing was asked on it for a while
	settled atomic.Bool // the signer's time is that of the latest tick, or later

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
	c := &leanConn{e: e, nc: nc, tcp: newRawSocket(nc), in: make([]byte, leanLineMost), since: time.Now()}
	if e.tls == nil {
		c.raw = c.tcp
	} else if err := c.secure(ctx, tr); err != nil {
		nc.Close()
		return nil, err
	}
	c.timer = time.AfterFunc(e.tick, c.watchdog)
	return c, nil
}

func (c *leanConn) secure(ctx context.Context, tr *Trace) error {
	own, cancel := context.WithTimeout(ctx, c.e.limits.connect)
	defer cancel()
	conn, began := tls.Client(c.nc, c.e.tls), time.Now()
	err := conn.HandshakeContext(own)
	if err != nil && own.Err() != nil && ctx.Err() == nil {
		return errorf(CodeConnectTimeout, 0, "TLS did not begin within %v", c.e.limits.connect)
	}
	if err != nil {
		return err
	}
	if tr != nil && tr.phases != nil {
		tr.phases.add(PhaseTLS, time.Since(began))
	}
	c.nc = conn
	return nil
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
		c.nc.SetDeadline(time.Unix(1, 0))
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
	c.settled.Store(false)
	now, steps := time.Now(), c.steps.Load()
	moved := steps != c.seen
	if moved {
		c.seen, c.since = steps, now
	}
	quiet := now.Sub(c.since)
	idle := false
	switch busy := c.busy.Load(); {
	case busy && quiet > c.e.limits.of(int(steps&(1<<phaseBits-1))):
		c.giveUp(verdictTimeout)
	case busy && !moved && c.raw != nil:
		// Have it look again: the end of a half-closed connection that was
		// there before the request makes no wake-up of its own, nor does an
		// answer wake somebody who is still sending.
		c.nc.SetDeadline(time.Unix(1, 0))
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
	return c.nc.SetDeadline(time.Time{}) == nil
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
	if c.raw == nil {
		// A TLS connection says good-bye, which must not wait for anybody.
		c.nc.SetDeadline(time.Now().Add(time.Second))
	}
	c.nc.Close()
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
	c.r, c.w = 0, 0
	c.answered, c.wrote, c.broken = false, false, false
	if c.raw != nil {
		c.raw.follow(nil, 0, 0)
	}
	c.moved(phaseSend)
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.verdict.Load() != verdictNone {
		return errStale
	}
	// Without TLS the look is taken together with the sending.
	if c.raw == nil && c.tcp != nil && c.reused && !c.tcp.quiet() {
		return errStale
	}
	return nil
}

// send hands all of b to the socket; more follows.
func (c *leanConn) send(b []byte) error {
	if c.raw != nil {
		s := c.raw
		s.out, s.up, s.final, s.begun, s.err = b, false, false, false, nil
		if s.check && !s.quiet() {
			return s.err
		}
		s.check = false
		return c.pushRest()
	}
	// In slices, so that the watchdog sees a slow connection move.
	for len(b) > 0 {
		n, err := c.nc.Write(b[:min(len(b), leanChunk)])
		c.wrote = c.wrote || n > 0
		c.step()
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// pushRest sends what is left of s.out, waiting where it has to.
func (c *leanConn) pushRest() error {
	s := c.raw
	for s.unsent() && s.err == nil {
		before := s.pushed
		err := s.rc.Write(s.sending)
		c.wrote = c.wrote || s.begun
		if s.pushed != before {
			c.step()
		}
		if err != nil && !c.goOn(err) {
			return err
		}
		if err != nil && !s.quiet() {
			return errAnswered
		}
	}
	return s.err
}

// errAnswered says that the store has answered, or hung up, before it had the
// whole request.
var errAnswered = errors.New("the store answered before it had received all")

// sendAndAwait sends b, the last of a request, and receives the first bytes of
// the answer. up says that b ends a payload.
func (c *leanConn) sendAndAwait(b []byte, tr *Trace, up bool) error {
	c.moved(phaseAwait)
	if c.raw == nil {
		if err := c.send(b); err != nil {
			return err
		}
		tr.sent(up)
		c.moved(phaseAwait)
		return c.fill(tr)
	}
	s := c.raw
	s.out, s.in, s.got, s.err = b, c.in, 0, nil
	s.sent, s.begun, s.up, s.final, s.trace = false, false, up, true, tr
	err := s.rc.Read(s.asking)
	c.wrote = c.wrote || s.begun
	if err != nil && !c.goOn(err) {
		return err
	}
	if s.err == nil && s.got == 0 {
		return c.awaitSlowly(tr)
	}
	return c.received()
}

// awaitSlowly goes on where the socket did not take all at once, or where the
// wait was interrupted.
func (c *leanConn) awaitSlowly(tr *Trace) error {
	s := c.raw
	if !s.sent {
		c.moved(phaseSend)
		if err := c.pushRest(); err != nil {
			return err
		}
		c.moved(phaseAwait)
	}
	return c.fill(tr)
}

// received takes over what the raw socket has put into c.in.
func (c *leanConn) received() error {
	s := c.raw
	if s.err != nil {
		return s.err
	}
	c.answered = true
	c.w += s.got
	return nil
}

// fill receives more into the free end of c.in.
func (c *leanConn) fill(tr *Trace) error {
	if c.raw == nil {
		n, err := c.nc.Read(c.in[c.w:])
		c.w += n
		if n > 0 {
			c.answered = true
			tr.sawFirstByte()
			return nil
		}
		return err
	}
	s := c.raw
	for {
		s.in, s.got, s.err, s.trace = c.in[c.w:], 0, nil, tr
		err := s.rc.Read(s.receiving)
		if err == nil {
			return c.received()
		}
		if !c.goOn(err) {
			return err
		}
	}
}

// drop receives up to n bytes and throws them away; io.EOF where the
// connection ended before.
func (c *leanConn) drop(n int64) (dropped int64, err error) {
	if c.raw == nil {
		return c.readAway(n)
	}
	s := c.raw
	s.left, s.err = n, nil
	for s.left > 0 && s.err == nil {
		before := s.left
		err := s.rc.Read(s.dropping)
		if s.left < before {
			c.step()
		}
		if err != nil && !c.goOn(err) {
			return n - s.left, err
		}
	}
	if s.left < 0 {
		s.left, c.broken = 0, true // the answer is longer than it says
	}
	return n - s.left, s.err
}

func (c *leanConn) readAway(n int64) (dropped int64, err error) {
	buf := receiveBuffers.Get().(*[]byte)
	defer receiveBuffers.Put(buf)
	for dropped < n && err == nil {
		var k int
		k, err = c.nc.Read((*buf)[:min(n-dropped, int64(len(*buf)))])
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
