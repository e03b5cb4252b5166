package fleet

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
)

// A spool is a copy of a client's log, as far as it has arrived. It only ever
// grows at its end, so its length says from where to go on.
type spool struct {
	file *os.File
	size int64
	hash hash.Hash
}

func newSpool(path string) (*spool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("keep the log of a client: %w", err)
	}
	return &spool{file: f, hash: sha256.New()}, nil
}

// add takes the piece at offset. One that is here already is left out: it was
// sent twice over two connections.
func (s *spool) add(offset int64, data []byte) error {
	switch {
	case offset+int64(len(data)) <= s.size:
		return nil
	case offset != s.size:
		return fmt.Errorf("a piece of the log at %d arrived where %d was expected", offset, s.size)
	}
	if _, err := s.file.Write(data); err != nil {
		return fmt.Errorf("keep the log of a client: %w", err)
	}
	s.hash.Write(data)
	s.size += int64(len(data))
	return nil
}

// errDiffers says that a log did not arrive as it was written.
var errDiffers = errors.New("the log that arrived is not the one that the client has: its SHA-256 differs")

// check compares the spool with what the client says of its complete log.
func (s *spool) check(size int64, sum []byte) error {
	if s.size != size || !bytes.Equal(s.hash.Sum(nil), sum) {
		return errDiffers
	}
	return nil
}

func (s *spool) path() string { return s.file.Name() }

func (s *spool) close() error { return s.file.Close() }

// remove ends the spool without a trace.
func (s *spool) remove() error { return errors.Join(s.close(), os.Remove(s.path())) }
