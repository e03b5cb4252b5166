// Package wire decodes numbers and texts from untrusted bytes. It never allocates
// more memory than there are bytes, and never panics.
package wire

import "encoding/binary"

// A Reader takes values from the front. Once there are too few bytes, or a
// value is none, it is bad and stays so. It counts how far it is, since to move
// the slice would cost a write barrier for each number.
type Reader struct {
	b   []byte
	at  int
	Bad bool
}

// NewReader reads b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Left is how many bytes there still are.
func (r *Reader) Left() int { return len(r.b) - r.at }

// Fail says that what was read makes no sense: nothing more is read.
func (r *Reader) Fail() { r.Bad, r.at = true, len(r.b) }

// Uint reads what binary.AppendUvarint wrote.
func (r *Reader) Uint() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 { // most are small
		r.at++
		return uint64(r.b[r.at-1])
	}
	n, size := binary.Uvarint(r.b[r.at:])
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.at += size
	return n
}

// Int reads what binary.AppendVarint wrote: the sign is the last bit.
func (r *Reader) Int() int64 {
	n := r.Uint()
	return int64(n>>1) ^ -int64(n&1)
}

// Length reads how many of something follow, each of a byte at least: most at
// most, else it is bad and there are none.
func (r *Reader) Length(most int) int {
	n := r.Uint()
	if n > uint64(most) || n > uint64(r.Left()) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes reads the next n; nil where there are fewer.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > r.Left() {
		r.Fail()
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

// Text reads what AppendText wrote, if it is no longer than most.
func (r *Reader) Text(most int) string { return string(r.Bytes(r.Length(most))) }

// AppendText writes s and its length.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
