package generator

import "strconv"

// An archive has a 512-byte header before each file, files padded to blocks of that size, and two
// blocks of zeros at the end. All of it has to be computable at any offset. So files get even
// shares of the blocks, and each border between two is moved by a random distance of its own: a
// border can be computed without the ones before it.
const (
	tarBlock = 512
	tarEnd   = 2 * tarBlock
	// tarShare is the mean size of a file with its header, in blocks, if an archive has room for
	// several. The last one gets the rest.
	tarShare = 128
	// tarSwing is the range in which borders move. It is small enough to keep borders in order.
	tarSwing = tarShare / 2
	// MinTarSize is the size of the smallest archive with a file.
	MinTarSize = 2*tarBlock + tarEnd
)

// A tarLayout contains the positions of the files in an archive, in blocks.
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

// border returns the block at which file i begins. The border after the last file is the end.
func (l *tarLayout) border(i int64) int64 {
	switch {
	case i <= 0:
		return 0
	case i >= l.files:
		return l.blocks
	}
	return i*tarShare + int64(mix(l.key+golden*uint64(i))%tarSwing) - tarSwing/2
}

// fileOf returns the file that contains a block: the one whose share it is, or a neighbour.
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

// length returns the length of file i in bytes. It ends anywhere in its last block.
func (l *tarLayout) length(i int64) int64 {
	blocks := l.border(i+1) - l.border(i) - 1
	return blocks*tarBlock - int64(mix(l.key^golden*uint64(i+1))%tarBlock)
}

// tarAt computes a part of an archive: the random content of any object, overlaid with headers,
// padding and the end. If the size is not a multiple of a block, the rest is zeros too.
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

// overlay copies src into dst at a position that may be partly or wholly outside.
func overlay(dst, src []byte, at int64) {
	if at < 0 {
		src, at = src[min(-at, int64(len(src))):], 0
	}
	if at < int64(len(dst)) {
		copy(dst[at:], src)
	}
}

// erase writes zeros between two positions, which may both be outside.
func erase(dst []byte, from, to int64) {
	from, to = max(from, 0), min(to, int64(len(dst)))
	if from < to {
		clear(dst[from:to])
	}
}

// header returns a POSIX ustar header: name, mode, owner, size, time, checksum, type and format.
// Only name and size differ between files, so that the seed determines the archive.
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
	sum := int64(8 * ' ') // the checksum field itself counts as spaces
	for _, b := range h {
		sum += int64(b)
	}
	octal(h[148:154], sum)
	h[155] = ' '
	return h
}

// octal fills dst with n. Fields end with a zero byte, which is already there.
func octal(dst []byte, n int64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = '0' + byte(n&7)
		n >>= 3
	}
}
