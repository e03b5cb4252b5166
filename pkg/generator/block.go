package generator

import "math"

// What follows the first 64 KiB of an object is made of slices of one random block, which can be sent from where
// they lie. They are the block's slots in an order of the object's own, so that nothing repeats before all of it
// was used, and each begins at a byte of its slot that the object and the place in it decide. A slice is shorter
// than 4 KiB, so that any 4 KiB have two in them, aligned or not: of these pairs there are 2^39. The block is as large as
// it has to be for repetitions to be out of sight of compressors with a window of 8 MiB, and no larger: see Payload.
const (
	blockFrom = 64 << 10
	slotSize  = 4 << 10
	sliceSize = 3584
	slots     = 2560
	// reach is how much of an object there is before a byte of the block occurs a second time.
	reach = slots * sliceSize
	// blockID is the object that the block is the content of, as if all of it were computed.
	blockID = 0x3b1ac6e0d5f24c97
)

// slices says whether content comes from the block, where it is not computed.
func (p *Payload) slices() bool { return p.dedupPct == 0 && p.random == stretch }

// slice returns the content from off on, up to the end of a slice. off is at least blockFrom.
func (p *Payload) slice(object, off uint64) []byte {
	var one [1][]byte
	p.cut(object, off, math.MaxInt64, one[:])
	return one[0]
}

// cut fills dst with slices from off on, which is at least blockFrom, up to size at most, and returns how many.
func (p *Payload) cut(object, off, size uint64, dst [][]byte) (n int) {
	block, step := p.randomBlock(), stepOf(object)
	number, within := (off-blockFrom)/sliceSize, (off-blockFrom)%sliceSize
	for n < len(dst) && off < size {
		slot := (object>>32 + number*step) % slots
		at := slot*slotSize + mix(object^golden*(number+1))%(slotSize-sliceSize+1)
		s := block[at+within : min(at+sliceSize, at+within+size-off)]
		dst[n] = s
		n, number, within, off = n+1, number+1, 0, off+uint64(len(s))
	}
	return n
}

// stepOf is how many slots further an object's next slice lies: a number without a divisor in common with their count,
// so that each comes once before one comes again.
func stepOf(object uint64) uint64 {
	step := (object | 1) % slots
	if step%5 == 0 {
		step += 2
	}
	return step
}

// objectKey is what tells the contents of objects apart.
func (p *Payload) objectKey(id uint64) uint64 { return mix(p.key ^ mix(id+golden)) }

// randomBlock is made when an object is large enough to need it. Large pages save a sender that jumps about in it
// a tenth.
func (p *Payload) randomBlock() []byte {
	p.blockOnce.Do(func() {
		block := make([]byte, slots*slotSize+hugePage)
		block = adviseHuge(block)[:slots*slotSize]
		p.compute(blockID, 0, block) // ten times as fast as a good generator of random numbers
		p.block = block
	})
	return p.block
}

// Lies is the offset from which on all of the content lies in memory.
func (r *Reader) Lies() int64 {
	if p := r.payload; !p.slices() || p.tar || p.file != nil {
		return r.size
	}
	return min(blockFrom, r.size)
}

// Pieces fills dst with content from off on, piece by piece, as it lies in memory. Nobody may change it, and it
// stays what it is. It returns how many pieces there are: none at the end.
func (r *Reader) Pieces(off int64, dst [][]byte) int {
	if off >= r.size {
		return 0
	}
	return r.payload.cut(r.payload.objectKey(r.id), uint64(off), uint64(r.size), dst)
}
