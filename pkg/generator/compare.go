package generator

import "bytes"

// compareSize is how much a Comparer computes at a time of content that is not in memory. It is on
// the stack, and stays in the L1 cache between computing and comparing.
const compareSize = 8 << 10

// A Comparer checks the content of an object, written in pieces of any size, and finds the first
// wrong byte. As an io.Writer it never fails, so that the caller reads to the end: only then can
// the connection be reused.
type Comparer struct {
	payload   *Payload
	id        uint64
	size, off int64
	differs   bool
	wrong     Difference
}

// A Difference is a wrong byte.
type Difference struct {
	Offset    int64 // in the object
	Got, Want byte
}

// NewComparer returns a comparer of an empty object. Reset sets another one.
func (p *Payload) NewComparer() *Comparer { return &Comparer{payload: p} }

// Reset sets the expected content: an object of the given size from off on.
func (c *Comparer) Reset(objectID uint64, size, off int64) {
	*c = Comparer{payload: c.payload, id: objectID, size: size, off: off}
}

// Write compares. It ignores bytes after the end of the object; the caller counts bytes and notices
// that there are too many.
func (c *Comparer) Write(p []byte) (int, error) {
	n := len(p)
	p = p[:max(0, min(int64(n), c.size-c.off))]
	var want [compareSize]byte
	for off := c.off; len(p) > 0 && !c.differs; {
		piece := c.payload.inMemory(c.id, off)
		if len(piece) == 0 {
			piece = want[:]
			c.payload.ObjectAt(c.id, c.size, off, piece[:min(len(p), compareSize)])
		}
		piece = piece[:min(len(p), len(piece))]
		if !bytes.Equal(piece, p[:len(piece)]) {
			c.locate(off, p, piece)
		}
		p, off = p[len(piece):], off+int64(len(piece))
	}
	c.off += int64(n)
	return n, nil
}

func (c *Comparer) locate(off int64, got, want []byte) {
	for i, b := range want {
		if got[i] != b {
			c.differs, c.wrong = true, Difference{Offset: off + int64(i), Got: got[i], Want: b}
			return
		}
	}
}

// Difference returns the first wrong byte; ok is false if there is none.
func (c *Comparer) Difference() (d Difference, ok bool) { return c.wrong, c.differs }
