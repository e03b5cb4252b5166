package generator

import "strconv"

// An archive has a 512-byte header before each file, files padded to such blocks, and two blocks of zeros at the
// end. All of it has to be computable at any offset, so files are dealt even shares of the blocks, and each border
// between two is then moved by a draw of its own: who knows a border knows it without those before it.
const (
	tarBlock = 512
	tarEnd   = 2 * tarBlock
	// tarShare is the mean size of a file with its header, in blocks, where an archive has room for several; what
	// is left over is the last one's.
	tarShare = 128
	// tarSwing is how far borders move, to both sides together. It is small enough for borders to stay in order.
	tarSwing = tarShare / 2
	// TarLeast is the size of the smallest archive with a file in it.
	TarLeast = 2*tarBlock + tarEnd
)

// A tarLayout says where the files of an archive are, in blocks.
type tarLayout struct {
	key    uint64 // of this object
	blocks int64  // of all files with their headers
	files  int64
}

func (p *Payload) tarLayout(objectID uint64, size int64) tarLayout {
	blocks := max(size-tarEnd, 0) / tarBlock
	if blocks < 2 {
		return tarLayout{} // no room for a file: zeros only
	}
	return tarLayout{key: p.objectKey(objectID), blocks: blocks, files: max(blocks/tarShare, 1)}
}

// border is the block at which file i begins; the border after the last file is the end.
func (l *tarLayout) border(i int64) int64 {
	switch {
	case i <= 0:
		return 0
	case i >= l.files:
		return l.blocks
	}
	return i*tarShare + int64(mix(l.key+golden*uint64(i))%tarSwing) - tarSwing/2
}

// fileOf is the file that a block belongs to: the one that has the share, or a neighbour.
func (l *tarLayout) fileOf(block int64) int64 {
	i := min(block/tarShare, l.files-1)
	switch {
	case block < l.border(i):
		return i - 1
	case block >= l.border(i+1):
		return i + 1
	}
	return i
}

// length is how many bytes file i has: it ends anywhere in its last block.
func (l *tarLayout) length(i int64) int64 {
	blocks := l.border(i+1) - l.border(i) - 1
	return blocks*tarBlock - int64(mix(l.key^golden*uint64(i+1))%tarBlock)
}

// tarAt computes a piece of an archive: the random content that any object has, with headers, padding and end laid
// over it. What is left behind the end when the size is no multiple of a block is zeros too.
func (p *Payload) tarAt(objectID uint64, size, off int64, dst []byte) {
	l := p.tarLayout(objectID, size)
	inside := max(0, min(int64(len(dst)), l.blocks*tarBlock-off))
	clear(dst[inside:])
	dst = dst[:inside]
	p.at(objectID, off, dst)
	if len(dst) == 0 {
		return
	}
	for i := l.fileOf(off / tarBlock); i < l.files && l.border(i)*tarBlock < off+int64(len(dst)); i++ {
		begin := l.border(i) * tarBlock
		if begin+tarBlock > off {
			header := l.header(i)
			overlay(dst, header[:], begin-off)
		}
		end := begin + tarBlock + l.length(i)
		erase(dst, end-off, l.border(i+1)*tarBlock-off)
	}
}

// overlay puts src into dst at a place that may lie partly or wholly outside.
func overlay(dst, src []byte, at int64) {
	if at < 0 {
		src, at = src[min(-at, int64(len(src))):], 0
	}
	if at < int64(len(dst)) {
		copy(dst[at:], src)
	}
}

// erase writes zeros from one place to another, which may both lie outside.
func erase(dst []byte, from, to int64) {
	from, to = max(from, 0), min(to, int64(len(dst)))
	if from < to {
		clear(dst[from:to])
	}
}

// header is a POSIX ustar header: name, mode, owner, size, time, checksum, type and format. Nothing in it but name and
// size differs between files, so that archives follow from the seed.
func (l *tarLayout) header(i int64) (h [tarBlock]byte) {
	name := append(appendBase32(h[:0], l.key>>24, codeLen), '/')
	_ = append(strconv.AppendInt(name, i, 10), suffix...) // it is in h
	octal(h[100:107], 0o644)
	octal(h[108:115], 0)
	octal(h[116:123], 0)
	octal(h[124:135], l.length(i))
	octal(h[136:147], 0)
	h[156] = '0' // a regular file
	copy(h[257:], "ustar\x0000")
	sum := int64(8 * ' ') // the checksum's own place counts as spaces
	for _, b := range h {
		sum += int64(b)
	}
	octal(h[148:154], sum)
	h[155] = ' '
	return h
}

// octal fills dst with n. Fields end with a zero byte, which is there already.
func octal(dst []byte, n int64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = '0' + byte(n&7)
		n >>= 3
	}
}
