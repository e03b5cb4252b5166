package generator

import (
	"errors"
	"io"
)

// writeSize is how much a Reader writes at a time. It stays in a core's own cache on its way to the
// socket, and is large enough that the system call does not matter.
const writeSize = 64 << 10

// A Reader reads the content of one object after another. The zero value is not usable, see
// Payload.NewReader. It implements io.Reader, io.ReaderAt, io.Seeker and io.WriterTo, and has no
// buffer: it computes bytes in place.
type Reader struct {
	payload   *Payload
	id        uint64
	size, off int64
}

// NewReader returns a reader of an empty object. Reset sets another one.
func (p *Payload) NewReader() *Reader { return &Reader{payload: p} }

// Reset moves to the start of another object.
func (r *Reader) Reset(objectID uint64, size int64) { r.id, r.size, r.off = objectID, size, 0 }

// Payload returns the payload that the reader reads.
func (r *Reader) Payload() *Payload { return r.payload }

// Size returns the size of the whole object.
func (r *Reader) Size() int64 { return r.size }

// Len returns the number of unread bytes.
func (r *Reader) Len() int { return int(max(0, r.size-r.off)) }

func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.ReadAt(p, r.off)
	r.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// ReadAt does not move the reader, and may be called concurrently with itself.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, errors.New("read payload: negative offset")
	case len(p) == 0:
		return 0, nil
	case off >= r.size:
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), r.size-off))
	r.payload.ObjectAt(r.id, r.size, off, p[:n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Seek may go past the end, as with files: reads there report the end.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	return seek(&r.off, r.size, offset, whence)
}

// seek moves the position in content of a size as io.Seeker documents.
func seek(at *int64, size, offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += *at
	case io.SeekEnd:
		offset += size
	default:
		return 0, errors.New("seek payload: unknown whence")
	}
	if offset < 0 {
		return 0, errors.New("seek payload: negative offset")
	}
	*at = offset
	return offset, nil
}

// WriteTo writes the unread part through a buffer that all readers of the payload share, so that
// its size counts once per request in progress and not per object.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	buf := r.payload.scratch.Get().(*[writeSize]byte)
	defer r.payload.scratch.Put(buf)
	var written int64
	for r.off < r.size {
		part := buf[:min(writeSize, r.size-r.off)]
		r.payload.ObjectAt(r.id, r.size, r.off, part)
		n, err := w.Write(part)
		r.off += int64(n)
		written += int64(n)
		if err != nil {
			return written, err
		}
		if n < len(part) {
			return written, io.ErrShortWrite
		}
	}
	return written, nil
}
