package generator

import "math"

// After the first 64 KiB, an object consists of slices of one random block, which can be sent from
// where they are in memory. They are the block's slots in an order that differs for each object, so
// that nothing repeats before the whole block was used. The object and the offset determine the
// byte of the slot at which each slice begins. A slice is shorter than 4 KiB, so that any 4 KiB
// contain parts of two, aligned or not, and there are 2^39 such pairs. The block is just large
// enough that compressors with a window of 8 MiB see no repetitions: see Payload.
const (
	blockFrom = 64 << 10
	slotSize  = 4 << 10
	sliceSize = 3584
	slots     = 2560
	// reach is the size up to which no byte of the block occurs twice in an object.
	reach = slots * sliceSize
	// blockID is the object whose computed content is the block.
	blockID = 0x3b1ac6e0d5f24c97
)

// slices reports whether large objects consist of slices.
func (p *Payload) slices() bool { return p.dedupPct == 0 && p.random == stretch }

// slice returns the content from off to the end of the slice. off is at least blockFrom.
func (p *Payload) slice(object, off uint64) []byte {
	var one [1][]byte
	p.cut(object, off, math.MaxInt64, one[:])
	return one[0]
}

// cut fills dst with slices from off, which is at least blockFrom, up to size at most, and returns
// how many.
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

// stepOf returns the distance in slots between an object's consecutive slices. It has no common
// divisor with the number of slots, so that each is used once before any is used again.
func stepOf(object uint64) uint64 {
	step := (object | 1) % slots
	if step%5 == 0 {
		step += 2
	}
	return step
}

// objectKey returns the key that makes the content of an object different from others.
func (p *Payload) objectKey(id uint64) uint64 { return mix(p.key ^ mix(id+golden)) }

// randomBlock creates the block when an object is large enough to need it. Large pages save a tenth
// of the time of a sender that reads it in random order.
func (p *Payload) randomBlock() []byte {
	p.blockOnce.Do(func() {
		block := make([]byte, slots*slotSize+hugePage)
		block = adviseHuge(block)[:slots*slotSize]
		p.compute(blockID, 0, block) // ten times as fast as a good random number generator
		p.block = block
	})
	return p.block
}

// InMemoryFrom returns the offset from which all content is in memory.
func (r *Reader) InMemoryFrom() int64 {
	if p := r.payload; !p.slices() || p.tar || p.file != nil {
		return r.size
	}
	return min(blockFrom, r.size)
}

// Pieces fills dst with the content from off on, piece by piece, as it is in memory. Nobody may
// change it, and it stays the same. It returns the number of pieces, or 0 at the end.
func (r *Reader) Pieces(off int64, dst [][]byte) int {
	if off >= r.size {
		return 0
	}
	return r.payload.cut(r.payload.objectKey(r.id), uint64(off), uint64(r.size), dst)
}
