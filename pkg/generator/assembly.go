package generator

import (
	"errors"
	"io"
	"sort"
)

// An Assembly is content made of pieces: bytes that it holds, and contents of objects that it
// computes when they are read. So an archive takes only the memory of its headers. It is written
// once, and then read like a Reader.
type Assembly struct {
	payload *Payload
	held    []byte
	pieces  []piece
	size    int64
	off     int64 // position of Read
}

// A piece is a part of an assembly, up to the start of the next one.
type piece struct {
	start int64
	id    uint64 // the object with the content
	held  int    // start in the held bytes; -1 = the content is computed
}

// NewAssembly returns an empty assembly.
func (p *Payload) NewAssembly() *Assembly { return &Assembly{payload: p} }

// Write appends bytes to hold.
func (a *Assembly) Write(b []byte) (int, error) {
	if n := len(a.pieces); len(b) > 0 && (n == 0 || a.pieces[n-1].held < 0) {
		a.pieces = append(a.pieces, piece{start: a.size, held: len(a.held)})
	}
	a.held = append(a.held, b...)
	a.size += int64(len(b))
	return len(b), nil
}

// WriteObject appends the content of an object.
func (a *Assembly) WriteObject(id uint64, size int64) {
	if size > 0 {
		a.pieces = append(a.pieces, piece{start: a.size, id: id, held: -1})
		a.size += size
	}
}

// Size returns the total size of all pieces.
func (a *Assembly) Size() int64 { return a.size }

func (a *Assembly) Read(p []byte) (int, error) {
	n, err := a.ReadAt(p, a.off)
	a.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// ReadAt may be called concurrently with itself.
func (a *Assembly) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("read archive: negative offset")
	}
	done := 0
	i := sort.Search(len(a.pieces), func(i int) bool { return a.pieces[i].start > off }) - 1
	for done < len(p) && off < a.size {
		end := a.size
		if i+1 < len(a.pieces) {
			end = a.pieces[i+1].start
		}
		at := &a.pieces[i]
		n := int(min(int64(len(p)-done), end-off))
		if at.held < 0 {
			a.payload.ObjectAt(at.id, end-at.start, off-at.start, p[done:done+n])
		} else {
			copy(p[done:done+n], a.held[int64(at.held)+off-at.start:])
		}
		done, off, i = done+n, off+int64(n), i+1
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// Seek may go past the end, as with files: reads there report the end.
func (a *Assembly) Seek(offset int64, whence int) (int64, error) {
	return seek(&a.off, a.size, offset, whence)
}
