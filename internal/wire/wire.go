// Package wire decodes numbers and texts from untrusted bytes. It never allocates
// more memory than there are bytes, and never panics.
package wire

import "encoding/binary"

// A Reader reads values one after the other. After a value that is invalid or cut
// off, Bad is set and all further values are zero. The Reader keeps an offset, since
// moving the slice would cost a write barrier for each number.
type Reader struct {
	b   []byte
	at  int
	Bad bool
}

// NewReader returns a Reader of b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Left returns the number of unread bytes.
func (r *Reader) Left() int { return len(r.b) - r.at }

// Fail sets Bad, and skips the rest. Callers use it for values that are out of range.
func (r *Reader) Fail() { r.Bad, r.at = true, len(r.b) }

// Uint reads an unsigned varint.
func (r *Reader) Uint() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 { // the common case
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

// Int reads a signed varint, whose lowest bit is the sign.
func (r *Reader) Int() int64 {
	n := r.Uint()
	return int64(n>>1) ^ -int64(n&1)
}

// Length reads the number of items that follow. It fails and returns 0 if there are
// more than max, or more than bytes are left, since an item takes at least one byte.
func (r *Reader) Length(max int) int {
	n := r.Uint()
	if n > uint64(max) || n > uint64(r.Left()) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes reads n bytes. It fails and returns nil if fewer are left.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > r.Left() {
		r.Fail()
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

// Text reads a string that AppendText wrote. It fails if the string is longer than max.
func (r *Reader) Text(max int) string { return string(r.Bytes(r.Length(max))) }

// AppendText appends the length of s and s.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
