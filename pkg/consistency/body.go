package consistency

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// BlockSize is the size of the blocks of bodies. Each names its key, its token and its place, and has a checksum.
const BlockSize = 4 << 10

// A block begins with its checksum, the number of blocks and its own number; then come the token and the key, each after its
// length. A word that depends on these fills the rest, so that no two blocks are equal.
const (
	blockSum    = 0
	blockTotal  = 4
	blockNumber = 8
	blockText   = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendBody appends a body of that many blocks. The key has less than 2 KiB.
func AppendBody(b []byte, key, token string, blocks int) []byte {
	return AppendBlocks(b, key, token, 0, blocks, blocks)
}

// AppendBlocks appends the blocks of a body from one number up to another.
func AppendBlocks(b []byte, key, token string, from, to, total int) []byte {
	b = slices.Grow(b, (to-from)*BlockSize)
	for i := from; i < to; i++ {
		b = b[:len(b)+BlockSize]
		fillBlock(b[len(b)-BlockSize:], key, token, i, total)
	}
	return b
}

func fillBlock(block []byte, key, token string, number, total int) {
	binary.LittleEndian.PutUint32(block[blockTotal:], uint32(total))
	binary.LittleEndian.PutUint32(block[blockNumber:], uint32(number))
	at := blockText
	for _, text := range [...]string{token, key} {
		binary.LittleEndian.PutUint16(block[at:], uint16(len(text)))
		at += 2 + copy(block[at+2:], text)
	}
	word := [4]byte{}
	binary.LittleEndian.PutUint32(word[:], crc32.Checksum(block[blockTotal:at], castagnoli))
	n := at + copy(block[at:], word[:])
	for n < BlockSize { // doubles what is there
		n += copy(block[n:], block[at:n])
	}
	binary.LittleEndian.PutUint32(block[blockSum:], crc32.Checksum(block[blockTotal:], castagnoli))
}

// A Body is a body that is being read, from the start of a block on. It is an io.Writer.
type Body struct {
	key    string
	from   uint32
	blocks uint32 // that were asked for; 0 = all
	next   uint32 // number of the next block
	total  uint32
	size   int64
	part   []byte // of a block
	tokens []string
	damage string
}

// Reset prepares for so many blocks of the body of a key, from one on. 0 blocks are the whole body.
func (b *Body) Reset(key string, from, blocks int) {
	*b = Body{key: key, from: uint32(from), blocks: uint32(blocks), next: uint32(from), part: b.part[:0], tokens: b.tokens[:0]}
}

// Write reads more of the body. It never fails.
func (b *Body) Write(p []byte) (int, error) {
	n := len(p)
	b.size += int64(n)
	for len(p) > 0 {
		if len(b.part) == 0 && len(p) >= BlockSize {
			b.block(p[:BlockSize])
			p = p[BlockSize:]
			continue
		}
		take := min(BlockSize-len(b.part), len(p))
		b.part = append(b.part, p[:take]...)
		p = p[take:]
		if len(b.part) == BlockSize {
			b.block(b.part)
			b.part = b.part[:0]
		}
	}
	return n, nil
}

// block checks the next block.
func (b *Body) block(p []byte) {
	number := b.next
	b.next++
	if binary.LittleEndian.Uint32(p) != crc32.Checksum(p[blockTotal:], castagnoli) {
		b.damaged("block %d has a wrong checksum", number)
		return
	}
	token, rest := blockField(p[blockText:])
	key, _ := blockField(rest)
	if string(key) != b.key {
		b.damaged("block %d belongs to another object", number)
		return
	}
	switch n := binary.LittleEndian.Uint32(p[blockNumber:]); {
	case n == number:
	case number == b.from:
		b.damaged("it begins with block %d, and the range that was asked for with block %d", n, number)
	default:
		b.damaged("block %d is where block %d belongs", n, number)
	}
	b.total = binary.LittleEndian.Uint32(p[blockTotal:])
	if last := len(b.tokens) - 1; last < 0 || b.tokens[last] != string(token) {
		b.addToken(string(token))
	}
}

func (b *Body) addToken(token string) {
	if !slices.Contains(b.tokens, token) {
		b.tokens = append(b.tokens, token)
	}
}

// blockField returns a text that has its length in front, and the rest.
func blockField(p []byte) (text, rest []byte) {
	n := int(binary.LittleEndian.Uint16(p))
	p = p[2:]
	n = min(n, len(p)-2) // the checksum is right, so this never shortens it
	return p[:n], p[n:]
}

func (b *Body) damaged(format string, args ...any) {
	if b.damage == "" {
		b.damage = damageMark + fmt.Sprintf(format, args...)
	}
}

// Blocks returns the number of blocks of the whole body, as its blocks name it.
func (b *Body) Blocks() int { return int(b.total) }

// Finish returns what the log says about the body: its token, or the tokens of a mixture, or what is wrong.
func (b *Body) Finish() string {
	switch {
	case len(b.tokens) > 1:
		return strings.Join(b.tokens, mixMark)
	case len(b.part) > 0:
		b.damaged("%s bytes are not whole blocks", strconv.FormatInt(b.size, 10))
	case len(b.tokens) == 0 && b.damage == "":
		b.damaged("it is empty")
	case b.blocks == 0 && b.next != b.total:
		b.damaged("it has %d of %d blocks", b.next, b.total)
	case b.blocks > 0 && b.next-b.from != min(b.blocks, b.total-b.from):
		b.damaged("it has %d blocks instead of %d", b.next-b.from, b.blocks)
	}
	if b.damage != "" {
		return b.damage
	}
	return b.tokens[0]
}
