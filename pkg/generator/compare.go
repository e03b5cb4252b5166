package generator

import "bytes"

// compareSize is how much a Comparer computes at a time, of what does not lie in memory anyway: it is on the stack,
// and stays in the nearest cache between being computed and being compared.
const compareSize = 8 << 10

// A Comparer takes the content of an object as it comes back, in pieces of any size, and finds the first byte that
// is not as it was. It is an io.Writer that never fails, so that whoever feeds it reads on to the end: a connection
// is of further use only then.
type Comparer struct {
	payload   *Payload
	id        uint64
	size, off int64
	differs   bool
	wrong     Difference
}

// A Difference is a byte that is not what it should be.
type Difference struct {
	Offset    int64 // in the object
	Got, Want byte
}

// NewComparer returns a comparer of an empty object: Reset chooses one.
func (p *Payload) NewComparer() *Comparer { return &Comparer{payload: p} }

// Reset expects what an object of the given size has from off on.
func (c *Comparer) Reset(objectID uint64, size, off int64) {
	*c = Comparer{payload: c.payload, id: objectID, size: size, off: off}
}

// Write compares. What lies behind the end of the object is not looked at: that there is too much is for the caller
// to find, who counts.
func (c *Comparer) Write(p []byte) (int, error) {
	n := len(p)
	p = p[:max(0, min(int64(n), c.size-c.off))]
	var want [compareSize]byte
	for off := c.off; len(p) > 0 && !c.differs; {
		piece := c.payload.lying(c.id, off)
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

// Difference is the first byte that was wrong; ok is false where there was none.
func (c *Comparer) Difference() (d Difference, ok bool) { return c.wrong, c.differs }
