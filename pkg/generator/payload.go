package generator

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

// A Payload is the content of every object of a run: a pure function of seed, object and offset, so
// that any part of any object can be computed again to verify it.
//
// # Properties
//
// No object up to 8 MiB compresses with any compressor. Larger ones do not compress with a
// compressor whose window is at most 8 MiB (gzip, lz4, S2, zstd up to level 19, xz up to level 6):
// bytes repeat after 8.8 MiB at the earliest. No 4 KiB occur twice, within an object or in any two
// objects, aligned or not, however a store divides objects into chunks of at least that size: of
// the first TiB of a run, one chunk in 2,500 is a duplicate. Up to 64 KiB an object has nothing in
// common with any other. Larger ones share slices below 4 KiB, each in a different order. This
// helps programs that compress several objects as one stream or find duplicates of 2 KiB. Stores do
// neither.
//
// # Implementation
//
// The first 64 KiB are computed. Two tables of random bytes (half a MiB together, so that they stay
// in a core's own cache) are combined by XOR. For each block of an object, a hash of (seed, object,
// block) selects a byte offset into each table. Different offsets give unrelated content, so half a
// MiB acts like 2^35 different blocks. In addition, every 2 KiB stretch begins with a 64-bit stamp
// from a hash of (seed, object, stretch), so that two blocks that happen to use the same bytes of
// both tables are not duplicate chunks. An object of 1 KiB takes 40 ns.
//
// The rest is in memory, in a block of 10 MiB that all objects share, and is sent from there (see
// block.go). This is the client's CPU time for 10 MiB over loopback, compared with repeated writes
// of the same buffer:
//
//	64 KiB from one constant buffer, by writev      0.71   compresses and dedups to nothing
//	64 KiB slices of 8, 16, 32 MiB, by writev       0.77, 0.87, 0.92   dedups
//	3.5 KiB slices of 16, 12, 10, 8 MiB, by writev  0.87, 0.86, 0.80, 0.80   with large pages
//	4 KiB slices with a stamp before each           0.96
//	1 MiB by XOR, then write                        1.16 to 1.42
//	64 KiB by XOR, then write                       1.9
//
// The block has this size because common compressors have a window of up to 8 MiB. It is not larger
// because the payload has to stay in the processor's cache.
//
// XOR itself is the smaller part of the cost. The larger part is that the socket runs dry
// meanwhile: the store falls asleep and has to be woken up, and acknowledgements no longer trigger
// the sending of queued data. If a share of the content is compressible or shared with other
// objects, all of it is computed.
type Payload struct {
	key      uint64
	a, b     []byte // tables
	random   int    // number of random bytes in each stretch; the others are zero
	dedupPct uint64
	file     []byte // repeated in every object instead
	tar      bool   // objects are archives whose files have this content
	scratch  sync.Pool

	blockOnce sync.Once
	block     []byte
}

const (
	tableSize = 256 << 10
	blockSize = 32 << 10 // part of an object with its own offsets into the tables
	chunkSize = 4 << 10  // unit of --obj.dedup
	stretch   = 2 << 10  // part with its own stamp and its own compressible bytes
	stampSize = 8
	// sharedID is the object whose blocks are the duplicate chunks.
	sharedID = 0x5aa7ed0b1ec75a1d
)

// PayloadOptions make content compressible or duplicate. With the zero value it is neither.
type PayloadOptions struct {
	Seed uint64
	// CompressiblePct is the compressible share of each object, 0 to 100. It is made of zero bytes
	// at the end of every 2 KiB, so that compressors find them at any block size. With 100, the 8
	// bytes that distinguish stretches remain.
	CompressiblePct int
	// DedupPct is the share of the 4 KiB chunks of each object, counted from its start, that all
	// objects have in common, 0 to 100. They are spread over the object and do not repeat within
	// it.
	DedupPct int
	// File is content to upload instead. Every object repeats it, starting at a different offset.
	// It is not copied unless it is small.
	File []byte
	// Tar makes every object a TAR archive.
	Tar bool
}

// NewPayload returns an error for percentages outside 0 to 100, and for options that need random
// content.
func NewPayload(o PayloadOptions) (*Payload, error) {
	if o.CompressiblePct < 0 || o.CompressiblePct > 100 {
		return nil, fmt.Errorf("compressible share of objects: %d%% is not between 0%% and 100%%", o.CompressiblePct)
	}
	if o.DedupPct < 0 || o.DedupPct > 100 {
		return nil, fmt.Errorf("duplicate share of objects: %d%% is not between 0%% and 100%%", o.DedupPct)
	}
	if (o.File != nil || o.Tar) && (o.CompressiblePct > 0 || o.DedupPct > 0) || o.File != nil && o.Tar {
		return nil, errors.New("content of a file, archives, and compressible or duplicate content cannot be combined")
	}
	if o.File != nil && len(o.File) == 0 {
		return nil, errors.New("an empty file has no content to repeat")
	}
	p := &Payload{
		file: repeated(o.File), tar: o.Tar,
		key:      derive(o.Seed, "payload", 0),
		a:        randomTable(o.Seed, 1),
		b:        randomTable(o.Seed, 2),
		random:   max(stampSize, stretch*(100-o.CompressiblePct)/100),
		dedupPct: uint64(o.DedupPct),
	}
	p.scratch.New = func() any { return new([writeSize]byte) }
	return p, nil
}

func randomTable(seed, index uint64) []byte {
	table := make([]byte, tableSize)
	_, _ = rand.NewChaCha8(chachaKey(seed, index)).Read(table) // never fails
	return table
}

func chachaKey(seed, index uint64) (key [32]byte) {
	for i := range 4 {
		binary.LittleEndian.PutUint64(key[8*i:], derive(seed, "payload table", 4*index+uint64(i)))
	}
	return key
}

// PayloadID returns the number of the object with this name, so that the name is enough for
// verification.
func PayloadID(key string) uint64 { return mix(hashString(key)) }

// ObjectAt computes the bytes of an object of the given size from off on. It is safe for concurrent
// use.
func (p *Payload) ObjectAt(objectID uint64, size, off int64, dst []byte) {
	switch {
	case p.file != nil:
		for len(dst) > 0 {
			n := copy(dst, p.filePiece(objectID, off))
			dst, off = dst[n:], off+int64(n)
		}
	case p.tar:
		p.tarAt(objectID, size, off, dst)
	default:
		p.at(objectID, off, dst)
	}
}

// repeated repeats a small file so that its end is reached rarely. The content stays the same.
func repeated(file []byte) []byte {
	const enough = 64 << 10
	if len(file) == 0 || len(file) >= enough {
		return file
	}
	return bytes.Repeat(file, enough/len(file)+1)
}

// filePiece returns the content from off to the end of the file. Each object begins at a random
// offset in the file, so that objects differ.
func (p *Payload) filePiece(objectID uint64, off int64) []byte {
	length := uint64(len(p.file))
	return p.file[(p.objectKey(objectID)%length+uint64(off)%length)%length:]
}

// inMemory returns an object's content from off on, as far as it is in memory, or nothing if it has to
// be computed.
func (p *Payload) inMemory(objectID uint64, off int64) []byte {
	switch {
	case p.file != nil:
		return p.filePiece(objectID, off)
	case off >= blockFrom && p.slices() && !p.tar:
		return p.slice(p.objectKey(objectID), uint64(off))
	}
	return nil
}

// at computes the bytes of random content from off on, for objects of any size. It is safe for
// concurrent use.
func (p *Payload) at(objectID uint64, off int64, dst []byte) {
	computed := len(dst)
	if p.slices() {
		computed = int(min(max(blockFrom-off, 0), int64(len(dst))))
	}
	p.compute(objectID, off, dst[:computed])
	dst, off = dst[computed:], off+int64(computed)
	for object := p.objectKey(objectID); len(dst) > 0; {
		n := copy(dst, p.slice(object, uint64(off)))
		dst, off = dst[n:], off+int64(n)
	}
}

// compute is at for content that is not in memory.
func (p *Payload) compute(objectID uint64, off int64, dst []byte) {
	for len(dst) > 0 {
		id, from, n := p.source(objectID, uint64(off))
		n = min(n, len(dst))
		p.fill(id, from, dst[:n])
		dst, off = dst[n:], off+int64(n)
	}
}

// source returns where the content at off comes from, and how far that holds: from the object
// itself, block by block, or, for duplicate chunks, from the next chunk of the shared object.
//
// The number of shared chunks before chunk c is (c·pct + phase)/100, so an object's share is exact
// to one chunk. The phase spreads the first ones over objects: of objects with a single chunk, pct
// of 100 are shared.
func (p *Payload) source(objectID, off uint64) (id, from uint64, n int) {
	if p.dedupPct == 0 {
		return objectID, off, blockSize - int(off%blockSize)
	}
	chunk, within := off/chunkSize, off%chunkSize
	phase := mix(p.key^objectID) % 100
	before, after := (chunk*p.dedupPct+phase)/100, ((chunk+1)*p.dedupPct+phase)/100
	if after > before {
		return sharedID, before*chunkSize + within, chunkSize - int(within)
	}
	return objectID, off, chunkSize - int(within)
}

// fill computes bytes within one block.
func (p *Payload) fill(id, off uint64, dst []byte) {
	block, within := off/blockSize, int(off%blockSize)
	h := mix(p.objectKey(id) + golden*(block+1))
	const offsets = tableSize - blockSize
	a := p.a[int(uint32(h>>32)%offsets)+within:]
	b := p.b[int(uint32(h)%offsets)+within:]
	subtle.XORBytes(dst, a[:len(dst)], b)
	for i := -(within % stretch); i < len(dst); i += stretch {
		number := (off + uint64(stretch+i)) / stretch // from 1, so that it differs from the block's hash
		stamp(dst, i, mix(h^golden*number))
		if p.random < stretch {
			clear(dst[min(max(i+p.random, 0), len(dst)):min(i+stretch, len(dst))])
		}
	}
}

// stamp combines 8 bytes at i with v; i may be before the start of dst, and the end past its end.
func stamp(dst []byte, i int, v uint64) {
	if i >= 0 && i+stampSize <= len(dst) {
		at := dst[i : i+stampSize]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)^v)
		return
	}
	for n := range stampSize {
		if j := i + n; j >= 0 && j < len(dst) {
			dst[j] ^= byte(v >> (8 * n))
		}
	}
}
