package oplog

import (
	"encoding/binary"
	"math/bits"

	"warp/internal/prefetch"
)

// A pile is rows in order, one after the other in chunks: what is needed next is next in memory, too.
type pile struct{ first, last *chunk }

// A chunk is filled from its begin on, and emptied from there.
type chunk struct {
	b           []byte
	first, last int // where these rows begin
	next        *chunk
}

// chunks are those which are free. There may be as many piles as rows, so the first chunk of a pile is small. Each is
// twice the one before, as long as there are few piles: a row keeps all of its chunk.
type chunks [chunkSizes][]*chunk

const (
	smallestChunk = 256
	chunkSizes    = 6
	largestChunk  = smallestChunk << (chunkSizes - 1)
	mostFree      = 64      // of one size
	mostGrown     = 1 << 20 // in chunks of all piles that are larger than they have to be
)

// What is before the body of a row in a chunk.
const (
	atStart     = 0
	atRun       = 8
	atSource    = 12
	atLength    = 16 // of the body
	chunkedHead = 20
)

// add puts a row behind those of a pile, which is one of so many.
func (f *chunks) add(p *pile, s *sortRow, run uint32, piles int) {
	n := chunkedHead + len(s.body)
	c := p.last
	switch {
	case c == nil:
		c = f.take(n, smallestChunk)
		*p = pile{c, c}
	case cap(c.b)-len(c.b) < n:
		c = f.take(n, min(2*cap(c.b), mostGrown/piles))
		p.last.next, p.last = c, c
	}
	c.last = len(c.b)
	e, h := binary.LittleEndian, c.b[c.last:c.last+chunkedHead]
	e.PutUint64(h[atStart:], uint64(s.start))
	e.PutUint32(h[atRun:], run)
	e.PutUint32(h[atSource:], s.source)
	e.PutUint32(h[atLength:], uint32(len(s.body)))
	if c.b = c.b[:c.last+n]; len(s.body) > 0 && &c.b[c.last+chunkedHead] != &s.body[0] {
		copy(c.b[c.last+chunkedHead:], s.body)
	}
}

// room is where the body of the next row will be, if it has at most so many bytes; nil if it does not fit.
func (c *chunk) room(most int) []byte {
	at := len(c.b) + chunkedHead
	if cap(c.b)-at < most {
		return nil
	}
	return c.b[at:at]
}

// take returns an empty chunk of at least n bytes, and of the wanted size if there are such.
func (f *chunks) take(n, wanted int) *chunk {
	if n > largestChunk {
		return &chunk{b: make([]byte, 0, n)}
	}
	size := bits.Len(uint(max(n, min(wanted, largestChunk))-1) / smallestChunk)
	if free := f[size]; len(free) > 0 {
		c := free[len(free)-1]
		f[size] = free[:len(free)-1]
		return c
	}
	return &chunk{b: make([]byte, 0, smallestChunk<<size)}
}

// drop takes a chunk back, if there is one.
func (f *chunks) drop(c *chunk) {
	if c == nil || cap(c.b) > largestChunk {
		return
	}
	if free := &f[bits.Len(uint(cap(c.b)-1)/smallestChunk)]; len(*free) < mostFree {
		*c = chunk{b: c.b[:0]}
		*free = append(*free, c)
	}
}

// pop takes the first row out. It is valid until the chunk is dropped that is empty now, if one is.
func (p *pile) pop(kinds *kindTable) (row sortRow, emptied *chunk) {
	c := p.first
	row = c.firstRow(kinds)
	if c.first += chunkedHead + len(row.body); c.first < len(c.b) {
		return row, nil
	}
	if p.first = c.next; p.first == nil {
		p.last = nil
	}
	return row, c
}

func (c *chunk) firstRow(kinds *kindTable) sortRow { return c.row(c.first, kinds) }

func (c *chunk) lastRow(kinds *kindTable) sortRow { return c.row(c.last, kinds) }

func (c *chunk) row(at int, kinds *kindTable) sortRow {
	e, h := binary.LittleEndian, c.b[at:]
	body := h[chunkedHead:][:e.Uint32(h[atLength:])]
	return sortRow{start: int64(e.Uint64(h[atStart:])), source: e.Uint32(h[atSource:]), body: body, kinds: kinds}
}

// firstKey is what orders the first row.
func (c *chunk) firstKey() (start int64, run uint32) {
	h := c.b[c.first:]
	return int64(binary.LittleEndian.Uint64(h[atStart:])), binary.LittleEndian.Uint32(h[atRun:])
}

// ahead asks for the row behind the first one.
func (p *pile) ahead() {
	c := p.first
	h := c.b[c.first:]
	i := chunkedHead + int(binary.LittleEndian.Uint32(h[atLength:]))
	if i < len(h) {
		prefetch.Row(&h[i])
	} else if c.next != nil {
		prefetch.Row(&c.next.b[:1][0])
	}
}
