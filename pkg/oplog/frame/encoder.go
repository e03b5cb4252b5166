// Package frame writes zstd frames (RFC 8878) of text whose lines are rows of columns. Any zstd decoder reads
// them. A general compressor searches for what repeats; here that is known, since a row mostly says in a column what the row
// before said there. So rows cost a fraction of the time.
package frame

import (
	"encoding/binary"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/huff0"
)

const (
	// window is how far back a match may lie, hence what a reader has to keep.
	window    = 512 << 10
	windowLog = 19
	// blockText is how long a block may be at most.
	blockText = 128 << 10
	// maxRow is what is taken for a row. Longer lines are text like any other.
	maxRow = 16 << 10
	// slide is how much text is taken between two moves of the window.
	slide = 512 << 10
	// gathered is how many bytes of blocks are written at once, unless the frame ends: a write costs more than it copies.
	gathered = 64 << 10
	// slack lies behind all text, so that eight or sixteen bytes can be taken anywhere.
	slack = 32
)

// A Layout says what is known about all rows. They are made of pieces, each of which but the first begins with the byte that
// separates it from the one before.
type Layout struct {
	Pieces int // how many there are, at most MaxPieces
	Key    int // it repeats, but not in the row before
}

// MaxPieces is how many pieces a row can have.
const MaxPieces = 16

// Starts say where the pieces of a row begin.
type Starts [MaxPieces]uint16

// An Encoder writes frames. It is not safe for concurrent use. After an error it is of no use.
type Encoder struct {
	dst    io.Writer
	layout Layout
	out    []byte
	open   bool // a frame has begun
	sum    xxhash.Digest

	text  []byte // of the frame, from base on
	base  int    // where text[0] lies in all text ever written
	block int    // where in text the block begins
	taken int    // where in text the first byte lies that is in no sequence yet

	literals    []byte // of the block's sequences
	seqs        []sequence
	recent      [3]int // offsets that a decoder remembers
	blockRecent [3]int // at the begin of the block
	matcher

	literalEnc               huff0.Scratch
	rowTables, defaultTables *tables
	tablesSent               bool // in this frame
}

// NewEncoder returns an encoder of rows with this layout. It writes to dst some blocks at a time, and all when it is flushed.
func NewEncoder(dst io.Writer, l Layout) *Encoder {
	e := &Encoder{
		dst: dst, layout: l,
		text:      make([]byte, 0, window+slide+slack),
		literals:  make([]byte, 0, blockText+slack),
		rowTables: rowTables(), defaultTables: defaultTables(),
	}
	e.literalEnc.Reuse = huff0.ReusePolicyNone
	e.matcher.init()
	return e
}

// Text appends text that resembles nothing.
func (e *Encoder) Text(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), blockText)
		if err := e.room(n); err != nil {
			return err
		}
		e.text = append(e.text, b[:n]...)
		b = b[n:]
	}
	return nil
}

// Space is where to append the next row, for Row.
func (e *Encoder) Space() ([]byte, error) {
	if err := e.room(maxRow); err != nil {
		return nil, err
	}
	n := len(e.text)
	return e.text[n : n : n+maxRow], nil
}

// Row takes a line with its end that was appended to Space. Its pieces begin where starts says; rows of one
// kind are those with much in common. What is wrong about either costs compression and nothing else, as
// long as the starts rise and lie in the row.
func (e *Encoder) Row(b []byte, starts *Starts, kind uint8, thread uint32) error {
	if len(b) > maxRow { // it did not fit the space
		return e.Text(b)
	}
	at := len(e.text)
	e.text = e.text[:at+len(b)]
	e.match(at, starts, kind, thread)
	return nil
}

// room makes room for n bytes of text in a block, in a frame.
func (e *Encoder) room(n int) error {
	if !e.open {
		e.begin()
	} else if len(e.text)-e.block+n > blockText {
		if err := e.endBlock(false); err != nil {
			return err
		}
	}
	if len(e.text)+n > window+slide {
		e.moveWindow()
	}
	return nil
}

// begin starts a frame.
func (e *Encoder) begin() {
	e.base += len(e.text)
	e.text = e.text[:0]
	e.block, e.taken = 0, 0
	e.recent = [3]int{1, 4, 8}
	e.blockRecent = e.recent
	e.tablesSent = false
	e.open = true
	e.sum.Reset()
	const checksum = 4
	e.out = append(e.out, 0x28, 0xb5, 0x2f, 0xfd, checksum, (windowLog-10)<<3)
}

// moveWindow drops what lies before the window. It is called at the begin of a block only, or the
// block is in the window anyway.
func (e *Encoder) moveWindow() {
	drop := len(e.text) - window
	copy(e.text, e.text[drop:])
	e.text = e.text[:window]
	e.base += drop
	e.block -= drop
	e.taken -= drop
}

// Flush ends the frame: all text so far can be read from now on.
func (e *Encoder) Flush() error {
	if !e.open {
		return nil
	}
	e.open = false
	return e.endBlock(true)
}

// endBlock writes the block, as it is where that is not longer.
func (e *Encoder) endBlock(last bool) error {
	text := e.text[e.block:]
	_, _ = e.sum.Write(text) // cannot fail
	head := len(e.out)
	const headSize = 3
	e.out = append(e.out, 0, 0, 0)
	kind := e.compress()
	size := len(e.out) - head - headSize
	if kind == rawBlock || size >= len(text) {
		kind, size = rawBlock, len(text)
		e.out = append(e.out[:head+headSize], text...)
	}
	h := uint32(size)<<3 | uint32(kind)<<1
	if last {
		h |= 1
	}
	e.out[head], e.out[head+1], e.out[head+2] = byte(h), byte(h>>8), byte(h>>16)
	if last {
		e.out = binary.LittleEndian.AppendUint32(e.out, uint32(e.sum.Sum64()))
	}
	e.literals, e.seqs = e.literals[:0], e.seqs[:0]
	e.block, e.taken = len(e.text), len(e.text)
	e.blockRecent = e.recent
	if !last && len(e.out) < gathered {
		return nil
	}
	_, err := e.dst.Write(e.out)
	e.out = e.out[:0]
	return err
}
