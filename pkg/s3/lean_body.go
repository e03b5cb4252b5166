package s3

import (
	"bytes"
	"io"
	"math"
)

// leanKeepMost is how much of an answer's body is looked at: error documents
// are short, and what is longer is none.
const leanKeepMost = 64 << 10

// receiveBody receives the answer's body and returns how long it was. It is
// thrown away, or, up to leanKeepMost, appended to keep. A body that ends
// before its announced end gives io.ErrUnexpectedEOF.
func (c *leanConn) receiveBody(tr *Trace, method string, kept *[]byte) (n int64, err error) {
	h := &c.head
	switch {
	case method == "HEAD", h.status == 204, h.status == 304:
		return 0, nil
	case h.chunked:
		return c.receiveChunks(tr, kept)
	case h.length >= 0:
		return c.take(h.length, kept)
	}
	h.close = true
	n, err = c.take(math.MaxInt64, kept)
	if err == io.ErrUnexpectedEOF {
		err = nil // there is no other way to tell the end
	}
	return n, err
}

// take receives n bytes of body.
func (c *leanConn) take(n int64, kept *[]byte) (taken int64, err error) {
	if kept != nil {
		return c.collect(n, kept)
	}
	taken = min(n, int64(c.w-c.r))
	c.r += int(taken)
	if taken == n {
		return taken, nil
	}
	more, err := c.drop(n - taken)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return taken + more, err
}

// collect is take for a body that is looked at.
func (c *leanConn) collect(n int64, kept *[]byte) (taken int64, err error) {
	for taken < n {
		if c.r == c.w {
			if err := c.more(nil); err != nil {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return taken, err
			}
		}
		k := int(min(n-taken, int64(c.w-c.r)))
		if len(*kept)+k > leanKeepMost {
			c.broken = true // the rest is not worth waiting for
			return taken, nil
		}
		*kept = append(*kept, c.in[c.r:c.r+k]...)
		c.r += k
		taken += int64(k)
	}
	return taken, nil
}

// receiveChunks receives a chunked body with its trailer.
func (c *leanConn) receiveChunks(tr *Trace, kept *[]byte) (n int64, err error) {
	for !c.broken {
		line, err := c.readLine(tr)
		if err != nil {
			return n, err
		}
		size, ok := parseChunkSize(line)
		if !ok {
			return n, badAnswer(c.head.status, "bad chunk size %.40q", line)
		}
		if size == 0 {
			return n, c.skipTrailer(tr)
		}
		taken, err := c.take(size, kept)
		n += taken
		if err != nil || c.broken {
			return n, err
		}
		if line, err = c.readLine(tr); err != nil {
			return n, err
		}
		if len(line) > 0 {
			return n, badAnswer(c.head.status, "a chunk is longer than announced")
		}
	}
	return n, nil
}

// skipTrailer reads to the empty line that ends a chunked body. Its size
// counts as the head's does.
func (c *leanConn) skipTrailer(tr *Trace) error {
	for {
		line, err := c.readLine(tr)
		if err != nil || len(line) == 0 {
			return err
		}
		if c.head.size += len(line); c.head.size > leanHeadMost {
			return badAnswer(c.head.status, "the headers are longer than %d bytes", leanHeadMost)
		}
	}
}

// readLine returns the next line without its end; it stays valid until more is
// received.
func (c *leanConn) readLine(tr *Trace) ([]byte, error) {
	for {
		if end := bytes.IndexByte(c.in[c.r:c.w], '\n'); end >= 0 {
			line := c.in[c.r : c.r+end]
			c.r += end + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if c.w-c.r == len(c.in) {
			return nil, badAnswer(c.head.status, "a chunk's line is longer than %d bytes", len(c.in))
		}
		if err := c.more(tr); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}
