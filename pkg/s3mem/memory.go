package s3mem

import (
	"fmt"
	"sync"
	"sync/atomic"

	"warp/internal/human"
)

// A fullError means that the embedded store has reached its memory limit.
type fullError struct {
	Limit   int64 // bytes
	Refused int64 // size of the first upload that did not fit, in bytes
}

func (e *fullError) Error() string {
	return fmt.Sprintf("the embedded store is full: an upload of %s does not fit into its memory limit of %s",
		human.Bytes(float64(e.Refused)), human.Bytes(float64(e.Limit)))
}

// memory counts the bytes of the store, including its bookkeeping, so that the limit applies to the
// process and not only to payload.
type memory struct {
	limit  int64
	used   atomic.Int64
	onFull func(error)
	once   sync.Once
}

// reserve reserves memory for an upload before any of it is read. The actual size of a finished
// object is added when it is stored, and the reservation is released when its request ends. For
// that moment both count, which is on the safe side.
func (m *memory) reserve(size int64) (release func(), err error) {
	// The allocator rounds small blocks up by at most an eighth.
	n := size + size/8 + objectOverhead
	if m.used.Add(n) > m.limit {
		m.used.Add(-n)
		full := &fullError{Limit: m.limit, Refused: size}
		m.once.Do(func() {
			if m.onFull != nil {
				// In a goroutine, because it may close the store, which waits for requests.
				go m.onFull(full)
			}
		})
		return nil, full
	}
	return func() { m.used.Add(-n) }, nil
}
