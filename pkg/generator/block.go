package generator

// What follows the first 64 KiB of an object is made of slices of one random block, which can be sent from where
// they lie. They are the block's slots in an order of the object's own, so that nothing repeats before all of it
// was used, and each begins at a byte of its slot that the object and the place in it decide. A slice is shorter
// than 4 KiB, so that any 4 KiB have two in them, aligned or not: of these pairs there are 2^41.
const (
	blockFrom = 64 << 10
	slotSize  = 4 << 10
	sliceSize = 3584
	slots     = 4096
	// reach is how much of an object there is before a byte of the block occurs a second time.
	reach = slots * sliceSize
	// blockID is the object that the block is the content of, as if all of it were computed.
	blockID = 0x3b1ac6e0d5f24c97
)

// slices says whether content comes from the block, where it is not computed.
func (p *Payload) slices() bool { return p.dedupPct == 0 && p.random == stretch }

// slice returns the content from off on, up to the end of a slice. off is at least blockFrom.
func (p *Payload) slice(object, off uint64) []byte {
	number, within := (off-blockFrom)/sliceSize, (off-blockFrom)%sliceSize
	slot := (object>>32 + number*(object|1)) % slots
	jitter := mix(object^golden*(number+1)) % (slotSize - sliceSize + 1)
	at := slot*slotSize + jitter
	return p.randomBlock()[at+within : at+sliceSize]
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

// Pieces fills dst with content from off on, piece by piece, as it lies in memory. Nobody may change it, and it
// stays what it is. It returns how many pieces there are, and the offset behind them. Without any the content up to
// that offset has to be read.
func (r *Reader) Pieces(off int64, dst [][]byte) (n int, end int64) {
	p := r.payload
	switch {
	case !p.slices() || p.tar || p.file != nil || off >= r.size:
		return 0, r.size
	case off < blockFrom:
		return 0, min(blockFrom, r.size)
	}
	object := p.objectKey(r.id)
	for n < len(dst) && off < r.size {
		s := p.slice(object, uint64(off))
		s = s[:min(int64(len(s)), r.size-off)]
		dst[n] = s
		n++
		off += int64(len(s))
	}
	return n, off
}
