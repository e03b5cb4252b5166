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

func (e *Encoder) appendBits(t *tables) {
	// A sequence takes at most 8+8+7 bits for its codes and 16+16+20 for the rest.
	need := len(e.out) + len(e.seqs)*10 + 16
	if cap(e.out) < need {
		e.out = append(make([]byte, 0, need*2), e.out...)
	}
	w := bitWriter{out: e.out[:cap(e.out)], at: len(e.out)}
	var sl, sm, so uint32
	for i := len(e.seqs) - 1; i >= 0; i-- {
		x := &e.seqs[i]
		l, m, ob := literalCode(x.literals), matchCode(x.match-3), uint8(bits.Len32(x.offset)-1)
		if i == len(e.seqs)-1 {
			sl, sm, so = t.literals.start(l.code), t.match.start(m.code), t.offset.start(ob)
		} else {
			var v, n uint32
			so, v, n = t.offset.step(so, ob)
			w.add(v, n)
			sm, v, n = t.match.step(sm, m.code)
			w.add(v, n)
			sl, v, n = t.literals.step(sl, l.code)
			w.add(v, n)
		}
		w.add(x.literals-l.base, uint32(l.bits))
		if l.bits+m.bits > 13 { // with 7 bits of before, 23 of the codes and 20 of the offset that is too many for one step
			w.store()
		}
		w.add(x.match-3-m.base, uint32(m.bits))
		w.add(x.offset&^(1<<(ob&31)), uint32(ob))
		w.store()
	}
	w.add(sm&(1<<t.match.log-1), uint32(t.match.log))
	w.add(so&(1<<t.offset.log-1), uint32(t.offset.log))
	w.add(sl&(1<<t.literals.log-1), uint32(t.literals.log))
	w.add(1, 1)
	w.store()
	if w.filled > 0 {
		w.at++
	}
	e.out = e.out[:w.at]
}

// A bitWriter writes bits from the lowest on. It has room for eight bytes more than is written.
type bitWriter struct {
	out    []byte
	at     int
	acc    uint64
	filled uint32
}

func (w *bitWriter) add(v, n uint32) {
	w.acc |= uint64(v) << (w.filled & 63)
	w.filled += n
}

// store leaves less than a byte.
func (w *bitWriter) store() {
	binary.LittleEndian.PutUint64(w.out[w.at:], w.acc)
	w.at += int(w.filled >> 3)
	w.acc >>= w.filled & 56
	w.filled &= 7
}
