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
	out, at := e.out[:cap(e.out)], len(e.out)
	var acc uint64
	var filled uint
	var sl, sm, so uint32
	for i := len(e.seqs) - 1; i >= 0; i-- {
		s := &e.seqs[i]
		lc, lb := literalCode(s.literals)
		mc, mb := matchCode(s.match - 3)
		ob := uint8(bits.Len32(s.offset) - 1)
		if i == len(e.seqs)-1 {
			sl, sm, so = t.literals.start(lc), t.match.start(mc), t.offset.start(ob)
		} else {
			var v, n uint32
			so, v, n = t.offset.step(so, ob)
			acc |= uint64(v) << (filled & 63)
			filled += uint(n)
			sm, v, n = t.match.step(sm, mc)
			acc |= uint64(v) << (filled & 63)
			filled += uint(n)
			sl, v, n = t.literals.step(sl, lc)
			acc |= uint64(v) << (filled & 63)
			filled += uint(n)
		}
		acc |= uint64(s.literals&(1<<(lb&31)-1)) << (filled & 63)
		filled += uint(lb)
		binary.LittleEndian.PutUint64(out[at:], acc)
		at, acc, filled = at+int(filled>>3), acc>>(filled&56), filled&7
		acc |= uint64((s.match-3)&(1<<(mb&31)-1)) << (filled & 63)
		filled += uint(mb)
		acc |= uint64(s.offset&(1<<(ob&31)-1)) << (filled & 63)
		filled += uint(ob)
		binary.LittleEndian.PutUint64(out[at:], acc)
		at, acc, filled = at+int(filled>>3), acc>>(filled&56), filled&7
	}
	for _, f := range [3]struct {
		v   uint32
		log uint
	}{{sm, t.match.log}, {so, t.offset.log}, {sl, t.literals.log}} {
		acc |= uint64(f.v&(1<<f.log-1)) << filled
		filled += f.log
	}
	acc |= 1 << filled
	filled++
	binary.LittleEndian.PutUint64(out[at:], acc)
	at += int(filled+7) >> 3
	e.out = e.out[:at]
}
