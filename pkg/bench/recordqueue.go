package bench

import (
	"sync/atomic"

	"warp/pkg/oplog"
)

// chunkLen keeps a chunk near 6 KiB, so that thousands of workers fit into
// little memory; a busy worker strings many of them together.
const chunkLen = 32

type chunk struct {
	records [chunkLen]oplog.Record
	n       atomic.Uint32 // records that the reader may see
	next    atomic.Pointer[chunk]
}

// A recordQueue carries records from one worker to the collector. Only the worker
// appends, only the collector drains, and neither ever waits for the other.
type recordQueue struct {
	tail *chunk // worker's
	free *chunk // worker's: chunks to use again

	head *chunk // collector's
	read uint32 // collector's: records of head that it has read

	spare atomic.Pointer[chunk] // on the way back from the collector

	allocated *atomic.Int64 // chunks in existence, over all queues
	worker    int           // id of the worker

	busy atomic.Pointer[string] // the operation in flight; nil = none
	ops  []*string              // worker's: the operations of all its requests
}

// begin is called by the worker before a request. It returns the operation that
// was in flight before, since a request may be part of another one.
func (q *recordQueue) begin(op string) (outer *string) {
	outer = q.busy.Load()
	for _, known := range q.ops {
		if *known == op {
			q.busy.Store(known)
			return outer
		}
	}
	q.ops = append(q.ops, new(op))
	q.busy.Store(q.ops[len(q.ops)-1])
	return outer
}

func newRecordQueue(allocated *atomic.Int64) *recordQueue {
	c := new(chunk)
	allocated.Add(1)
	return &recordQueue{tail: c, head: c, allocated: allocated}
}

// append is called by the worker.
func (q *recordQueue) append(r *oplog.Record) {
	c := q.tail
	i := c.n.Load()
	if i == chunkLen {
		next := q.newChunk()
		c.next.Store(next)
		q.tail = next
		c, i = next, 0
	}
	c.records[i] = *r
	c.n.Store(i + 1) // publishes the record
}

func (q *recordQueue) newChunk() *chunk {
	if q.free == nil {
		q.free = q.spare.Swap(nil)
	}
	c := q.free
	if c == nil {
		q.allocated.Add(1)
		return new(chunk)
	}
	q.free = c.next.Load()
	c.next.Store(nil)
	return c
}

// drain is called by the collector. The slices it hands to each are valid
// until each returns.
func (q *recordQueue) drain(each func([]oplog.Record) error) error {
	for {
		c := q.head
		n := c.n.Load()
		if n > q.read {
			if err := each(c.records[q.read:n]); err != nil {
				return err
			}
			q.read = n
		}
		next := c.next.Load()
		if n < chunkLen || next == nil {
			return nil
		}
		q.head, q.read = next, 0
		q.recycle(c)
	}
}

func (q *recordQueue) recycle(c *chunk) {
	clear(c.records[:]) // releases the strings
	c.n.Store(0)
	// Between Swap and Store the worker finds nothing and makes a new chunk,
	// which costs it a little memory and no wait.
	c.next.Store(q.spare.Swap(nil))
	q.spare.Store(c)
}
