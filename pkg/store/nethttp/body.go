package nethttp

import (
	"io"
	"sync"

	"warp/pkg/store"
)

// A BorrowedBody is a body that its owner takes back when the request ends. net/http may still read
// a body after it has returned the answer, when the owner is already filling it with the next
// payload.
type BorrowedBody struct {
	mu   sync.RWMutex
	Body store.Body // nil when taken back
}

func (l *BorrowedBody) Release() {
	l.mu.Lock()
	l.Body = nil
	l.mu.Unlock()
}

func (l *BorrowedBody) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Body == nil {
		return 0, io.EOF
	}
	return l.Body.Read(p)
}

func (l *BorrowedBody) Seek(offset int64, whence int) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Body == nil {
		return 0, io.ErrClosedPipe
	}
	return l.Body.Seek(offset, whence)
}

// ReadAt may be called concurrently, by the parts of a multipart upload.
func (l *BorrowedBody) ReadAt(p []byte, off int64) (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.Body == nil {
		return 0, io.EOF
	}
	return l.Body.ReadAt(p, off)
}
