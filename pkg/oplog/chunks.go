package oplog

import (
	"encoding/binary"
	"math/bits"

	"warp/internal/prefetch"
)

// A pile is rows in order, one after the other in chunks: what is needed next is next in memory, too.
type pile struct {
	head        []byte // the rows of its first chunk that are left
	first, last *chunk
}

// A chunk is filled from its begin on, and emptied from there.
type chunk struct {
	b    []byte
	last int // where this row begins
	next *chunk
}

// chunks hands chunks out. There may be as many piles as rows, so the first chunk of a pile is small. Each is
// twice the one before, as long as there are few piles: a row keeps all of its chunk.
type chunks struct {
	free [chunkSizes][]*chunk
	held int // bytes of those in use
}

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
		*p = pile{c.b, c, c}
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
	if p.first == c {
		p.head = c.b[c.last-len(p.head):]
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
		f.held += n
		return &chunk{b: make([]byte, 0, n)}
	}
	size := bits.Len(uint(max(n, min(wanted, largestChunk))-1) / smallestChunk)
	f.held += smallestChunk << size
	if free := f.free[size]; len(free) > 0 {
		c := free[len(free)-1]
		f.free[size] = free[:len(free)-1]
		return c
	}
	return &chunk{b: make([]byte, 0, smallestChunk<<size)}
}

// drop takes a chunk back, if there is one.
func (f *chunks) drop(c *chunk) {
	if c == nil {
		return
	}
	f.held -= cap(c.b)
	if cap(c.b) > largestChunk {
		return
	}
	if free := &f.free[bits.Len(uint(cap(c.b)-1)/smallestChunk)]; len(*free) < mostFree {
		*c = chunk{b: c.b[:0]}
		*free = append(*free, c)
	}
}

// pop takes the first row out. It is valid until the chunk is dropped that is empty now, if one is. The row behind the
// next one is asked for, since there are more piles than a processor reads ahead.
func (p *pile) pop(row *sortRow) (emptied *chunk) {
	next := row.take(p.head)
	if len(next) == 0 {
		emptied = p.first
		if p.first = emptied.next; p.first == nil {
			*p = pile{}
			return emptied
		}
		next = p.first.b
	}
	p.head = next
	if n := sizeInChunk(next); n < len(next) {
		prefetch.Row(&next[n])
	} else if c := p.first.next; c != nil {
		prefetch.Row(&c.b[0])
	}
	return emptied
}

// take makes row the first one of a chunk, and returns the others.
func (row *sortRow) take(chunk []byte) (rest []byte) {
	e, n := binary.LittleEndian, sizeInChunk(chunk)
	row.start, row.source = int64(e.Uint64(chunk[atStart:])), e.Uint32(chunk[atSource:])
	row.body = chunk[chunkedHead:n:n]
	return chunk[n:]
}

func sizeInChunk(row []byte) int {
	return chunkedHead + int(binary.LittleEndian.Uint32(row[atLength:]))
}

// firstKey is what orders the first row.
func (p *pile) firstKey() (start int64, run uint32) {
	e := binary.LittleEndian
	return int64(e.Uint64(p.head[atStart:])), e.Uint32(p.head[atRun:])
}

func (p *pile) firstRow(kinds *kindTable) sortRow {
	row := sortRow{kinds: kinds}
	row.take(p.head)
	return row
}

func (p *pile) lastRow(kinds *kindTable) sortRow {
	row := sortRow{kinds: kinds}
	row.take(p.last.b[p.last.last:])
	return row
}
