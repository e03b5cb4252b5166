package frame

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// compress appends the block's content to e.out.
func (e *Encoder) compress() (kind int) {
	before := e.blockRecent
	e.appendLiterals(e.taken, len(e.text)-e.taken)
	head := len(e.out)
	e.appendLiteralSection()
	sent := e.tablesSent
	e.appendSequences()
	if len(e.out)-head >= len(e.text)-e.block {
		e.recent, e.tablesSent = before, sent // a decoder does not see these
		return rawBlock
	}
	return compressedBlock
}

func (e *Encoder) appendLiteralSection() {
	n := len(e.literals)
	if n >= 256 {
		out, _, err := huff0.Compress4X(e.literals, &e.literalEnc)
		if err == nil {
			c := len(out)
			switch most := max(n, c); {
			case most < 1<<10:
				e.out = append24(e.out, 2|1<<2|uint32(n)<<4|uint32(c)<<14)
			case most < 1<<14:
				e.out = binary.LittleEndian.AppendUint32(e.out, 2|2<<2|uint32(n)<<4|uint32(c)<<18)
			default:
				v := 2 | 3<<2 | uint64(n)<<4 | uint64(c)<<22
				e.out = append(binary.LittleEndian.AppendUint32(e.out, uint32(v)), byte(v>>32))
			}
			e.out = append(e.out, out...)
			return
		}
	}
	switch {
	case n < 1<<5:
		e.out = append(e.out, byte(n<<3))
	case n < 1<<12:
		e.out = append(e.out, byte(1<<2|n<<4), byte(n>>4))
	default:
		e.out = append24(e.out, 3<<2|uint32(n)<<4)
	}
	e.out = append(e.out, e.literals...)
}

func append24(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16)) }

func (e *Encoder) appendSequences() {
	n := len(e.seqs)
	switch {
	case n == 0:
		e.out = append(e.out, 0)
		return
	case n < 128:
		e.out = append(e.out, byte(n))
	case n < 0x7f00:
		e.out = append(e.out, byte(n>>8+128), byte(n))
	default:
		e.out = append(e.out, 255, byte(n-0x7f00), byte((n-0x7f00)>>8))
	}
	const described, repeated = 2, 3
	t := e.rowTables
	switch {
	case e.tablesSent:
		e.out = append(e.out, repeated<<6|repeated<<4|repeated<<2)
	case n < fewSequences:
		t = e.defaultTables
		e.out = append(e.out, 0)
	default:
		e.out = append(e.out, described<<6|described<<4|described<<2)
		e.out = append(append(append(e.out, t.literals.header...), t.offset.header...), t.match.header...)
		e.tablesSent = true
	}
	e.appendBits(t)
}

// fewSequences do not repay that the tables are described.
const fewSequences = 64

// appendBits encodes the sequences from the last to the first. All that changes is in variables: a bit writer of its own
// would be in memory, where each step waits for the one before.
func (e *Encoder) appendBits(t *tables) {
	// A sequence takes at most 8+8+7 bits for its codes and 16+16+20 for the rest.
	need := len(e.out) + len(e.seqs)*10 + 16
	if cap(e.out) < need {
		e.out = append(make([]byte, 0, need*2), e.out...)
	}
	out, at := e.out[:cap(e.out)], len(e.out)
	var acc uint64
	var filled, literals, match, offset, v, n uint32
	var room [2]rangeStep
	for left := e.seqs; len(left) > 0; left = left[:len(left)-1] {
		x := &left[len(left)-1]
		l, m := t.literals.of(x.literals, &room[0]), t.match.of(x.match-3, &room[1])
		o := uint32(bits.Len32(x.offset)-1) & 31
		if len(left) == len(e.seqs) {
			literals, match, offset = t.literals.start(&l.step), t.match.start(&m.step), t.offset.start(&t.offset.steps[o])
		} else {
			offset, v, n = t.offset.step(offset, &t.offset.steps[o])
			acc, filled = addBits(acc, filled, v, n)
			match, v, n = t.match.step(match, &m.step)
			acc, filled = addBits(acc, filled, v, n)
			literals, v, n = t.literals.step(literals, &l.step)
			acc, filled = addBits(acc, filled, v, n)
		}
		acc, filled = addBits(acc, filled, x.literals-l.base, l.extra)
		if l.extra+m.extra > 13 { // with 7 bits of before, 23 of the codes and 20 of the offset that is too many for one step
			acc, filled, at = storeBits(out, acc, filled, at)
		}
		acc, filled = addBits(acc, filled, x.match-3-m.base, m.extra)
		acc, filled = addBits(acc, filled, x.offset-1<<o, o)
		acc, filled, at = storeBits(out, acc, filled, at)
	}
	acc, filled = addBits(acc, filled, match&(1<<t.match.log-1), t.match.log)
	acc, filled = addBits(acc, filled, offset&(1<<t.offset.log-1), t.offset.log)
	acc, filled = addBits(acc, filled, literals&(1<<t.literals.log-1), t.literals.log)
	acc, filled = addBits(acc, filled, 1, 1)
	_, filled, at = storeBits(out, acc, filled, at)
	if filled > 0 {
		at++
	}
	e.out = out[:at]
}

// addBits adds n bits, the first ones lowest.
func addBits(acc uint64, filled, v, n uint32) (uint64, uint32) {
	return acc | uint64(v)<<(filled&63), filled + n
}

// storeBits leaves less than a byte. It writes eight, of which the last ones are written again.
func storeBits(out []byte, acc uint64, filled uint32, at int) (left uint64, leftFilled uint32, next int) {
	binary.LittleEndian.PutUint64(out[at:], acc)
	return acc >> (filled & 56), filled & 7, at + int(filled>>3)
}
