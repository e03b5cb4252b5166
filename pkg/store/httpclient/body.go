package httpclient

import (
	"bytes"
	"io"
	"math"

	"warp/internal/human"
	"warp/pkg/store"
)

// A sink says where an answer's body goes: into c.kept up to a number of bytes, to a writer, or
// nowhere.
type sink struct {
	keep    int
	into    io.Writer
	payload bool // the body is an object or a part of one

	document *store.Document // counts what is kept; nil = it is short
}

// receiveBody receives the answer's body and returns its length. It returns io.ErrUnexpectedEOF if
// the body ends early.
func (c *Conn) receiveBody(tr *store.Trace, method string, to sink) (n int64, err error) {
	n, err = c.receive(tr, method, to)
	c.received = err == nil
	tr.Complete()
	return n, err
}

func (c *Conn) receive(tr *store.Trace, method string, to sink) (n int64, err error) {
	h := &c.head
	c.kept, c.cut = c.kept[:0], false
	switch {
	case method == "HEAD", h.Status == 204, h.Status == 304:
		return 0, nil
	case h.Chunked:
		return c.receiveChunks(tr, to)
	case h.Length >= 0:
		return c.receiveBytes(h.Length, to)
	}
	h.Close = true
	n, err = c.receiveBytes(math.MaxInt64, to)
	if err == io.ErrUnexpectedEOF {
		err = nil // the end of the connection is the only way to tell the end
	}
	return n, err
}

// receiveBytes receives n bytes of the body.
func (c *Conn) receiveBytes(n int64, to sink) (taken int64, err error) {
	if to.keep > 0 || to.into != nil {
		return c.collect(n, to)
	}
	taken = min(n, int64(c.w-c.r))
	c.r += int(taken)
	if taken == n {
		return taken, nil
	}
	more, err := c.discard(n - taken)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return taken + more, err
}

// collect is receiveBytes for a body that is kept or written.
func (c *Conn) collect(n int64, to sink) (taken int64, err error) {
	for taken < n {
		if c.r == c.w {
			if err := c.receiveMore(nil); err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return taken, err
			}
			if to.keep != maxErrorDocument { // an error document has to arrive completely and in time
				c.progress()
			}
		}
		k := int(min(n-taken, int64(c.w-c.r)))
		b := c.in[c.r : c.r+k]
		if to.into != nil {
			if _, err := to.into.Write(b); err != nil {
				return taken, err
			}
		} else if len(c.kept)+k > to.keep {
			c.broken, c.cut = true, true // the rest is not worth waiting for
			return taken, nil
		} else {
			if err := c.makeRoom(k, n-taken, to); err != nil {
				c.broken = true
				return taken, err
			}
			c.kept = append(c.kept, b...)
		}
		c.r += k
		taken += int64(k)
	}
	return taken, nil
}

// makeRoom has c.kept hold n more bytes, of rest that are announced, and counts them, or all that has to be allocated. It
// allocates once for all that is announced, as long as that may be kept.
func (c *Conn) makeRoom(n int, rest int64, to sink) error {
	size := len(c.kept) + n
	allocate := size > cap(c.kept)
	if allocate {
		size += size/4 + 4096
		if rest <= int64(to.keep) {
			size = max(size, len(c.kept)+int(rest))
		}
		size = min(size, to.keep)
	}
	if to.document != nil {
		if err := to.document.Reach(size, c.head.Status); err != nil {
			return err
		}
	}
	if allocate {
		c.kept = append(make([]byte, 0, size), c.kept...)
	}
	return nil
}

// receiveChunks receives a chunked body with its trailer.
func (c *Conn) receiveChunks(tr *store.Trace, to sink) (n int64, err error) {
	for !c.cut {
		line, err := c.readLine(tr)
		if err != nil {
			return n, err
		}
		size, ok := parseChunkSize(line)
		if !ok {
			return n, store.BadAnswer(c.head.Status, "bad chunk size %.40q", line)
		}
		if size == 0 {
			return n, c.skipTrailer(tr)
		}
		taken, err := c.receiveBytes(size, to)
		n += taken
		if err != nil || c.cut {
			return n, err
		}
		if line, err = c.readLine(tr); err != nil {
			return n, err
		}
		if len(line) > 0 {
			return n, store.BadAnswer(c.head.Status, "a chunk is longer than announced")
		}
	}
	return n, nil
}

// skipTrailer reads up to the empty line that ends a chunked body. The trailer counts against the
// limit on the head.
func (c *Conn) skipTrailer(tr *store.Trace) error {
	for {
		line, err := c.readLine(tr)
		if err != nil || len(line) == 0 {
			return err
		}
		if err := c.head.grow(len(line), c.head.Status); err != nil {
			return err
		}
	}
}

// readLine returns the next line without its end. The line is valid until more is received.
func (c *Conn) readLine(tr *store.Trace) ([]byte, error) {
	for {
		if end := bytes.IndexByte(c.in[c.r:c.w], '\n'); end >= 0 {
			line := c.in[c.r : c.r+end]
			c.r += end + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if c.w-c.r == len(c.in) {
			return nil, store.BadAnswer(c.head.Status, "a chunk's line is longer than %s", human.Bytes(float64(len(c.in))))
		}
		if err := c.receiveMore(tr); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}
