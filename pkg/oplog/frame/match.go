package frame

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	minMatch   = 4 // shorter ones cost more than their bytes
	keySlots   = 1 << 12
	groupSlots = 1 << 6
)

// A matcher remembers where to look for what a row repeats. Whatever it believes is compared
// with the text before it is used.
type matcher struct {
	last   *place            // the row before
	groups [groupSlots]place // the last row of each group
	keys   [keySlots]uint32  // where a key, or all before its last slash, was seen last, in all text
}

// A place is where a row was.
type place struct {
	at     int // in all text
	starts []int
}

func (m *matcher) init(columns int) {
	for i := range m.groups {
		m.groups[i] = place{-1, make([]int, columns)}
	}
	m.last = &m.groups[0]
}

// match finds what the row at the given place in the text repeats. What is in no match at its end
// are literals before the next match.
func (e *Encoder) match(at int, starts []int) {
	h, end := e.text[:cap(e.text)], len(e.text)
	if n := len(e.seqs); n > 0 && e.taken == at {
		// The match that reached the end of the row before mostly goes on.
		more := common(h, at, at-e.recent[0], end)
		e.seqs[n-1].match += uint32(more)
		e.taken += more
	}
	ref := e.reference(h, at, starts)
	from := ref.at - e.base
	if from < 0 || at-from > window-blockText {
		from = -1
	}
	own := -1 // where the time before in this row is
	for c := 1; c < len(starts); c++ {
		p := at + starts[c] - 1
		time := c >= e.layout.Times && c < e.layout.TimesEnd
		switch {
		case c == e.layout.Key:
			e.matchKey(h, p+1, at+starts[c+1]-1)
		case time && h[p+1] == h[p] && c+1 < e.layout.TimesEnd:
			continue // empty: it is part of what comes before the next one
		}
		n, q := 0, 0
		if p >= e.taken && from >= 0 {
			q = from + ref.starts[c] - 1
			n = common(h, p, q, end)
		}
		if time {
			if own >= 0 && p >= e.taken {
				if m := common(h, p+1, own, end); m > n+1 && m >= minMatch {
					e.emit(p+1, p+1-own, m)
					n = 0
				}
			}
			own = p + 1
		}
		if n < minMatch {
			continue
		}
		for p > e.taken && q > 0 && h[p-1] == h[q-1] {
			p, q, n = p-1, q-1, n+1
		}
		e.emit(p, p-q, n)
	}
	m := e.last
	m.at = e.base + at
	copy(m.starts, starts)
}

// reference returns the row to compare with: the last one that was of the same kind. The place of the
// new one is e.last from then on.
func (e *Encoder) reference(h []byte, at int, starts []int) *place {
	g := e.layout.Group
	last := e.last
	p, end := at+starts[g[0]], at+starts[e.layout.Key]
	if q := last.at - e.base; q >= 0 && common(h, p, q+last.starts[g[0]], end) == end-p {
		return last
	}
	var k uint64
	for _, c := range g {
		k = hash(h[at+starts[c]:at+starts[c+1]], k)
	}
	e.last = &e.groups[k>>(64-6)]
	if e.last.at >= e.base {
		return e.last
	}
	return last
}

// matchKey looks for the key itself, then for what is before its last slash.
func (e *Encoder) matchKey(h []byte, start, end int) {
	if e.matchSeen(h, start, end) {
		return
	}
	if i := bytes.LastIndexByte(h[start:end], '/'); i >= minMatch {
		e.matchSeen(h, start, start+i+1)
	}
}

// matchSeen looks for a text that was seen before, and remembers it.
func (e *Encoder) matchSeen(h []byte, start, end int) bool {
	slot := &e.keys[hash(h[start:end], 0)>>(64-12)]
	distance := int(uint32(e.base+start) - *slot)
	*slot = uint32(e.base + start)
	p := max(start, e.taken)
	if distance > start || distance > window-blockText || distance == 0 {
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
func hash(b []byte, seed uint64) uint64 {
	const prime = 0x9E3779B97F4A7C15
	x := seed + uint64(len(b))
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

// common returns how many bytes at p and q are the same, up to end. There are at least
// eight bytes behind end.
func common(h []byte, p, q, end int) int {
	start := p
	for p < end {
		if x := binary.LittleEndian.Uint64(h[p:]) ^ binary.LittleEndian.Uint64(h[q:]); x != 0 {
			p += bits.TrailingZeros64(x) >> 3
			break
		}
		p, q = p+8, q+8
	}
	return min(p, end) - start
}
