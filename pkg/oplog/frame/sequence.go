package frame

// A sequence is literals and the match behind them.
type sequence struct {
	literals uint32
	match    uint32
	offset   uint32 // 1 to 3 for offsets that the decoder remembers, otherwise the offset plus 3
}

// emit makes a sequence of all that is in none yet up to the match of n bytes at p.
func (e *Encoder) emit(p, offset, n int) {
	ll := p - e.taken
	e.appendLiterals(e.taken, ll)
	e.taken = p + n
	e.seqs = append(e.seqs, sequence{uint32(ll), uint32(n), e.offsetValue(offset, ll)})
}

// appendLiterals copies in steps of sixteen bytes, which is what most literals have at most.
func (e *Encoder) appendLiterals(from, n int) {
	k := len(e.literals)
	src, dst := e.text[from:cap(e.text)], e.literals[k:cap(e.literals)]
	if n > 16 {
		copy(dst, src[:n])
	} else {
		*(*[16]byte)(dst) = *(*[16]byte)(src)
	}
	e.literals = e.literals[:k+n]
}

// offsetValue says an offset by how long ago it was used, where a decoder knows that, and
// remembers it as a decoder does. Behind a match without literals the
// last offset cannot be meant, so that the others have the smaller numbers.
func (e *Encoder) offsetValue(offset, literals int) uint32 {
	r := &e.recent
	shift := uint32(0)
	if literals == 0 {
		shift = 1
	}
	switch {
	case offset == r[0] && literals > 0:
		return 1
	case offset == r[1]:
		r[0], r[1] = r[1], r[0]
		return 2 - shift
	case offset == r[2]:
		r[0], r[1], r[2] = r[2], r[0], r[1]
		return 3 - shift
	}
	r[0], r[1], r[2] = offset, r[0], r[1]
	return uint32(offset) + 3
}

// Kinds of blocks, as the format numbers them.
const (
	rawBlock        = 0
	compressedBlock = 2
)
