package s3mem

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A fullError says that the embedded store has reached its memory limit.
type fullError struct {
	Limit   int64 // bytes
	Refused int64 // size of the first upload that did not fit, in bytes
}

func (e *fullError) Error() string {
	const mib = 1 << 20
	return fmt.Sprintf("the embedded store is full: an upload of %d bytes does not fit into its memory limit of %.4g MiB",
		e.Refused, float64(e.Limit)/mib)
}

// memory counts the bytes that the store holds, its own bookkeeping included, so that the limit is about the
// process and not about payload alone.
type memory struct {
	limit  int64
	used   atomic.Int64
	onFull func(error)
	once   sync.Once
}

// reserve sets memory aside for an upload before any of it is read. What a finished object really takes is
// added when it is stored, and the reservation is released when its request ends; counting both for that
// moment errs on the safe side.
func (m *memory) reserve(size int64) (release func(), err error) {
	// The allocator rounds a small block up by an eighth at most.
	n := size + size/8 + objectOverhead
	if m.used.Add(n) > m.limit {
		m.used.Add(-n)
		full := &fullError{Limit: m.limit, Refused: size}
		m.once.Do(func() {
			if m.onFull != nil {
				// On its own, so that it may close the store, which waits for requests.
				go m.onFull(full)
			}
		})
		return nil, full
	}
	return func() { m.used.Add(-n) }, nil
}
