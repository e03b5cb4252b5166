package httpclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"warp/pkg/store"
)

// exchange sends a request and receives the head of the answer.
func (c *Conn) exchange(ctx context.Context, r *Request, tr *store.Trace) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	c.sock.wire = tr
	c.acquireMemory()
	// A GET needs no check first: if the connection has died, the request is sent again.
	c.livenessSkipped = r.repeatable() && c.justAnswered(tr) && !c.pool.noRepeat
	c.sock.checkFirst = c.reused && (r.mutates() && !c.livenessSkipped || c.idle.Load() || c.pool.noRepeat)
	c.idle.Store(false)
	err := c.write(ctx, r, tr)
	if c.sock.begun {
		tr.Requested()
	}
	if err != nil && c.sock.begun && !c.answered && r.Body != nil && !isOwn(err) {
		// A store that refuses an upload may say why before it hangs up.
		c.broken = true
		c.sock.abandon()
		c.acquireMemory()
		if c.fill(tr) == nil {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	keeps := r.Keeps
	if keeps == "" {
		keeps = c.pool.api.Keeps
	}
	if err := c.readHead(tr, keeps); err != nil {
		return err
	}
	if tr != nil {
		tr.Answered(c.head.Status)
		c.answeredAt = tr.Base().Add(tr.FirstByte())
	}
	return nil
}

// livenessWindow is how soon after an answer a request has to begin for the connection to count as
// still alive. Checking it takes a system call, which is a twentieth of the cost of a small upload.
const livenessWindow = time.Millisecond

func (c *Conn) justAnswered(tr *store.Trace) bool {
	return tr != nil && tr.Base().Sub(c.answeredAt) < livenessWindow
}

// isOwn reports whether the error comes from the payload rather than the connection.
func isOwn(err error) bool {
	var own *store.Error
	return errors.As(err, &own)
}

// write writes a request and waits for the answer.
func (c *Conn) write(ctx context.Context, r *Request, tr *store.Trace) error {
	if r.Writer != nil {
		return r.Writer.Write(ctx, c, tr)
	}
	c.buildHead(r)
	switch {
	case r.Body == nil || r.Size == 0:
		tr.Sending()
		return c.SendLast(c.Head, tr, false)
	case c.expects(r):
		tr.NoWireTime() // the store answers twice
		return c.sendExpected(r, tr)
	}
	return c.SendBody(r, tr)
}

// State returns the memory of the API's [Writer]. It belongs to the connection until the last of the
// request is sent.
func (c *Conn) State() any { return c.state }

// Host returns the value of the Host header.
func (c *Conn) Host() string { return c.pool.host }

// Second returns the current time in Unix seconds, at most a second late. Reading the clock for each
// request costs more than it is worth.
func (c *Conn) Second() int64 { return c.pool.second.Load() }

// Piece returns how much payload to produce and send at a time.
func (c *Conn) Piece() int { return c.pool.piece }

// AppendProto appends what follows the target in a request's head: the version of HTTP, and the Host
// and User-Agent headers.
func (c *Conn) AppendProto(head []byte) []byte {
	return append(append(append(head, " HTTP/1.1\r\nHost: "...), c.pool.host...), c.pool.agent...)
}

// Room returns memory for n bytes of payload, with free space in front for [Conn.WithHead].
func (c *Conn) Room(n int) []byte {
	if len(c.out) < headRoom+n {
		c.out = make([]byte, headRoom+n)
	}
	return c.out[headRoom : headRoom+n]
}

// WithHead puts the head in front of the payload, which is in the memory that [Conn.Room] returned,
// so that both are sent at once. It sends a head that is too long first.
func (c *Conn) WithHead(payload []byte) ([]byte, error) {
	if len(c.Head) > headRoom {
		return payload, c.Send(c.Head)
	}
	from := headRoom - len(c.Head)
	copy(c.out[from:], c.Head)
	return c.out[from : headRoom+len(payload)], nil
}

// ReadBody fills p with the content of a payload at off.
func ReadBody(b store.Body, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := b.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = payloadEnds(off + int64(n))
	}
	return err
}

func payloadEnds(off int64) error {
	return store.Errorf("RequestFailed", 0, "the payload ends after %d bytes, before its size", off)
}

// SendBody sends the head and the body as it is, and waits for the answer. A PieceBody sends its
// content from where it is in memory; anything before that is copied piece by piece.
func (c *Conn) SendBody(r *Request, tr *store.Trace) error {
	tr.Sending()
	computed := r.Size
	pieces, ok := r.Body.(store.PieceBody)
	if ok = ok && sendsPieces && c.tls == nil; ok {
		computed = min(pieces.InMemoryFrom(), r.Size)
	}
	for off := int64(0); ; {
		end := min(computed, off+int64(c.pool.piece))
		b := c.Room(int(end - off))
		err := ReadBody(r.Body, b, off)
		if err == nil && off == 0 {
			b, err = c.WithHead(b)
		}
		if err != nil {
			return err
		}
		if off = end; off < computed {
			if err := c.Send(b); err != nil {
				return err
			}
			continue
		}
		if ok {
			c.sock.follow(pieces, off, r.Size)
		}
		return c.SendLast(b, tr, r.Size > 0 && r.Payload)
	}
}

// expectAbove is the size above which a request that may be redirected sends its payload only when
// the store asks for it. A Go server reads and discards up to this much unwanted payload; above
// that it closes the connection.
const expectAbove = 256 << 10

// expects reports whether the payload waits until the store asks for it. It does not wait after a
// redirect.
func (r *Request) expects() bool {
	return r.Follows != nil && r.Size > expectAbove && r.moved == nil
}

// expectTime is how long the payload waits. Some proxies do not know Expect.
const expectTime = 2 * time.Second

// expects is Request.expects, but does not wait for a store that is known to take payload without
// having asked for it.
func (c *Conn) expects(r *Request) bool { return r.expects() && !c.pool.neverAsks.Load() }

// sendExpected is SendBody for a payload that waits. It does not send the payload unless the answer
// is 100, or there is none.
func (c *Conn) sendExpected(r *Request, tr *store.Trace) error {
	tr.Sending()
	seen := tr.FirstByte()
	c.until = time.Now().Add(expectTime)
	err := c.awaitContinue(tr)
	expired := !time.Now().Before(c.until)
	c.until = time.Time{}
	switch {
	case err == errAnswered:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded) && expired && c.verdict.Load() == verdictNone:
		c.unasked = true
		c.acquireMemory() // the wait has released it
	case err != nil:
		return err
	default:
		tr.Redirected(seen) // that was an interim answer
	}
	c.answered, c.Head = false, c.Head[:0]
	c.enterPhase(phaseSend)
	return c.SendBody(r, tr)
}

// awaitContinue sends the head and waits for the interim answer. It returns errAnswered for another one.
func (c *Conn) awaitContinue(tr *store.Trace) error {
	if err := c.SendLast(c.Head, tr, false); err != nil {
		return err
	}
	const interim = "HTTP/1.1 100"
	for {
		unread := c.in[c.r:c.w]
		if !bytes.HasPrefix(unread, []byte(interim)[:min(len(unread), len(interim))]) {
			c.broken = true // the store may mistake what follows for the payload
			return errAnswered
		}
		if end := bytes.Index(unread, []byte("\r\n\r\n")); end >= 0 {
			c.r += end + len("\r\n\r\n")
			return nil
		}
		if err := c.receiveMore(tr); err != nil {
			return err
		}
	}
}

// buildHead builds the head of a request in c.Head.
func (c *Conn) buildHead(r *Request) {
	h := append(append(c.Head[:0], r.Method...), ' ')
	if r.moved != nil {
		h = append(h, r.moved...)
	} else {
		h = append(h, r.target...)
	}
	h = c.AppendProto(h)
	if r.Size > 0 || r.Method != "GET" && r.Method != "HEAD" && r.Method != "DELETE" {
		h = append(strconv.AppendInt(append(h, "Content-Length: "...), r.Size, 10), "\r\n"...)
	}
	if c.expects(r) {
		h = append(h, "Expect: 100-continue\r\n"...)
	}
	if r.ContentType != "" {
		h = append(append(append(h, "Content-Type: "...), r.ContentType...), "\r\n"...)
	}
	for _, x := range r.Headers {
		h = append(append(AppendTitle(h, x.Name), ": "...), x.Value...)
		h = append(h, "\r\n"...)
	}
	if r.Length > 0 {
		h = append(strconv.AppendInt(append(h, "Range: bytes="...), r.Offset, 10), '-')
		h = append(strconv.AppendInt(h, r.Offset+r.Length-1, 10), "\r\n"...)
	}
	if auth := c.pool.api.Auth; auth != nil && !r.anonymous {
		h = auth.Append(h, r)
	}
	c.Head = append(h, "\r\n"...)
}

// AppendTitle appends a header's name in title case.
func AppendTitle(dst []byte, name string) []byte {
	first := true
	for i := range len(name) {
		c := name[i]
		if first && c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		first = c == '-'
		dst = append(dst, c)
	}
	return dst
}
