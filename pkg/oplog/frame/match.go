package frame

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"warp/internal/prefetch"
)

const (
	minMatch  = 4 // shorter ones cost more than their bytes
	keySlots  = 1 << 12
	kindSlots = 1 << 6
	headSlots = 1 << 9
)

// A matcher remembers where to look for what a row repeats. Whatever it believes is compared
// with the text before it is used.
type matcher struct {
	last  *place           // the row before
	kinds [kindSlots]place // the last row of each kind
	heads [headSlots]place // the last row of each kind and thread
	keys  [keySlots]uint32 // where a key, or all before its last slash, was seen last, in all text
}

// A place is where a row was.
type place struct {
	at     int // in all text
	starts Starts
}

func (m *matcher) init() {
	for i := range m.kinds {
		m.kinds[i].at = -1
	}
	for i := range m.heads {
		m.heads[i].at = -1
	}
	m.last = &m.kinds[0]
}

// match finds what the row at the given place in the text repeats. What is in no match at its end
// are literals before the next match.
func (e *Encoder) match(at int, starts *Starts, kind uint8, thread uint32) {
	h, end := e.text[:cap(e.text)], len(e.text)
	if n := len(e.seqs); n > 0 && e.taken == at {
		// The match that reached the end of the row before mostly goes on.
		more := common(h, at, at-e.recent[0], end)
		e.seqs[n-1].match += uint32(more)
		e.taken += more
	}
	own := &e.kinds[kind%kindSlots]
	ref := own
	if ref.at < e.base {
		ref = e.last
	}
	from := ref.at - e.base
	if at-from > window-maxRow {
		from = -1
	}
	l := &e.layout
	key, keyEnd := at+int(starts[l.Key])+1, at+int(starts[l.Key+1])
	distance := e.seen(h, key, keyEnd)
	// Keys of one thread begin alike.
	mine := &e.heads[(uint32(kind)<<3^uint32(kind)>>3^thread)%headSlots]
	if d := at + e.base - mine.at; mine.at >= e.base && d <= window-maxRow {
		e.matchPieces(h, at, starts, mine.at-e.base, &mine.starts, 1, uint(l.Key))
	} else {
		e.matchPieces(h, at, starts, from, &ref.starts, 1, uint(l.Key))
	}
	mine.at, mine.starts = e.base+at, *starts
	e.matchKey(h, key, keyEnd, distance)
	e.matchPieces(h, at, starts, from, &ref.starts, uint(l.Key+1), uint(l.Pieces))
	own.at, own.starts = e.base+at, *starts
	e.last = own
}

// matchPieces compares pieces with those of another row. Mostly the first of several matches is of all of them.
func (e *Encoder) matchPieces(h []byte, at int, starts *Starts, from int, others *Starts, c, last uint) {
	if from < 0 {
		return
	}
	for ; c < last; c++ {
		p := at + int(starts[c%MaxPieces])
		if p < e.taken {
			continue
		}
		q := from + int(others[c%MaxPieces])
		n := common(h, p, q, len(e.text))
		if n < minMatch {
			continue
		}
		for p > e.taken && q > 0 && h[p-1] == h[q-1] {
			p, q, n = p-1, q-1, n+1
		}
		e.emit(p, p-q, n)
	}
}

// matchKey looks for the key itself, which was seen that far back, then for what is before its last slash.
func (e *Encoder) matchKey(h []byte, start, end, distance int) {
	if e.matchSeen(h, start, end, distance) {
		return
	}
	from := max(start, e.taken)
	if i := bytes.LastIndexByte(h[from:end], '/'); from+i >= start+minMatch && i >= 0 {
		end = from + i + 1
		e.matchSeen(h, start, end, e.seen(h, start, end))
	}
}

// seen returns how far back a text was seen before, 0 if it is not known, and remembers where it is now. That
// is anywhere in the window, so it is asked for before it is needed.
func (e *Encoder) seen(h []byte, start, end int) (distance int) {
	slot := &e.keys[hash(h[start:end])>>(64-12)]
	distance = int(uint32(e.base+start) - *slot)
	*slot = uint32(e.base + start)
	if distance > start || distance > window {
		return 0
	}
	prefetch.Line(&h[start-distance])
	return distance
}

// matchSeen says whether nothing is left of a text, or nothing can be matched, after a look that far back.
func (e *Encoder) matchSeen(h []byte, start, end, distance int) bool {
	p := max(start, e.taken)
	if distance == 0 {
		return p >= end
	}
	n := common(h, p, p-distance, end)
	if n < minMatch {
		return p >= end
	}
	e.emit(p, distance, n)
	return p+n == end
}

// hash mixes the last sixteen bytes, which tell keys apart as a rule.
func hash(b []byte) uint64 {
	const prime = 0x9E3779B97F4A7C15
	x := uint64(len(b))
	switch {
	case len(b) >= 16:
		x ^= binary.LittleEndian.Uint64(b[len(b)-16:])
		x = bits.RotateLeft64(x*prime, 29) ^ binary.LittleEndian.Uint64(b[len(b)-8:])
	default:
		for _, c := range b {
			x = (x ^ uint64(c)) * prime
		}
	}
	x *= prime
	return (x ^ x>>32) * prime
}

// common returns how many bytes at p and q are the same, up to end, sixteen at a time. There are at least as many behind end.
func common(h []byte, p, q, end int) int {
	start := p
	for p < end {
		a, b := h[p:p+16], h[q:q+16]
		x := binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b)
		y := binary.LittleEndian.Uint64(a[8:]) ^ binary.LittleEndian.Uint64(b[8:])
		if x|y != 0 {
			n := bits.TrailingZeros64(x)
			if x == 0 { // without a jump, which would be guessed wrongly half of the time
				n = 64 + bits.TrailingZeros64(y)
			}
			p += n >> 3
			break
		}
		p, q = p+16, q+16
	}
	return min(p, end) - start
}
