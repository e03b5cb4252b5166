package store

import (
	"io"
	"sync"
)

// A lentBody is a body that is taken back when the request has ended. net/http
// may still be reading a body after it has returned the answer, while its
// owner fills it with the next payload.
type lentBody struct {
	mu   sync.RWMutex
	body Body // nil when taken back
}

func (l *lentBody) takeBack() {
	l.mu.Lock()
	l.body = nil
	l.mu.Unlock()
}

func (l *lentBody) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.body == nil {
		return 0, io.EOF
	}
	return l.body.Read(p)
}

func (l *lentBody) Seek(offset int64, whence int) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.body == nil {
		return 0, io.ErrClosedPipe
	}
	return l.body.Seek(offset, whence)
}

// ReadAt may run several times at once: the parts of a multipart upload.
func (l *lentBody) ReadAt(p []byte, off int64) (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.body == nil {
		return 0, io.EOF
	}
	return l.body.ReadAt(p, off)
}
