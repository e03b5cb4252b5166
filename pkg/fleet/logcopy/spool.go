package logcopy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"os"
	"sync"
)

// A Spool is a copy of a client's log, as far as it has arrived. It only ever
// grows at its end, so its size says where to continue. One goroutine may add
// to it while others ask for its size and read it.
type Spool struct {
	file *os.File
	mu   sync.Mutex // guards the following
	size int64
	hash hash.Hash
}

// NewSpool creates the file of a spool, which must not exist.
func NewSpool(path string) (*Spool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("keep the log of a client: %w", err)
	}
	return &Spool{file: f, hash: sha256.New()}, nil
}

// Add adds a chunk. It ignores duplicates, because a client may send a chunk
// again over the next connection.
func (s *Spool) Add(c Chunk) error {
	switch size := s.Size(); {
	case c.offset+int64(len(c.data)) <= size:
		return nil
	case c.offset != size:
		return fmt.Errorf("a chunk of the log at %d arrived where %d was expected", c.offset, size)
	}
	if _, err := s.file.Write(c.data); err != nil {
		return fmt.Errorf("keep the log of a client: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hash.Write(c.data)
	s.size += int64(len(c.data))
	return nil
}

// Ack returns the acknowledgement of everything received.
func (s *Spool) Ack() []byte { return binary.BigEndian.AppendUint64(nil, uint64(s.Size())) }

// Size returns the number of bytes received.
func (s *Spool) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// ErrDiffers is the error of [Spool.Check].
var ErrDiffers = errors.New("the log that arrived differs from the client's: its SHA-256 is another")

// Check compares the spool with size and digest of the client's complete log.
func (s *Spool) Check(size int64, sum []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size != size || !bytes.Equal(s.hash.Sum(nil), sum) {
		return ErrDiffers
	}
	return nil
}

// ReadAt reads received bytes. It may be called while the spool grows.
func (s *Spool) ReadAt(p []byte, offset int64) (int, error) { return s.file.ReadAt(p, offset) }

// Path returns the name of the file.
func (s *Spool) Path() string { return s.file.Name() }

// Close closes the file and keeps it.
func (s *Spool) Close() error { return s.file.Close() }

// Remove closes and removes the file.
func (s *Spool) Remove() error { return errors.Join(s.Close(), os.Remove(s.Path())) }
