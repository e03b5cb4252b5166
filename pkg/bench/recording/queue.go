package recording

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

// A backlog counts the chunks of all queues.
type backlog struct{ chunks, max atomic.Int64 }

// A Queue carries records from one worker to the collector. Only the worker
// appends, only the collector drains, and neither ever waits for the other.
type Queue struct {
	tail *chunk // worker's
	free *chunk // worker's: chunks to use again

	head *chunk // collector's
	read uint32 // collector's: records of head that it has read

	spare atomic.Pointer[chunk] // on the way back from the collector

	backlog *backlog
	worker  int // id of the worker

	busy atomic.Pointer[string] // the operation in flight; nil = none
	ops  []*string              // worker's: the operations of all its requests
}

// Begin is called by the worker before a request, and [Queue.End] after it. Begin
// returns the operation that was in flight before, since a request may be part of
// another one.
func (q *Queue) Begin(op string) (outer *string) {
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

// End is called by the worker after a request, with the result of Begin.
func (q *Queue) End(outer *string) { q.busy.Store(outer) }

func newQueue(b *backlog) *Queue {
	c := new(chunk)
	b.chunks.Add(1)
	return &Queue{tail: c, head: c, backlog: b}
}

// Full reports whether the collector has fallen so far behind that the run must end.
func (q *Queue) Full() bool { return q.backlog.chunks.Load() > q.backlog.max.Load() }

// Append is called by the worker. It copies the record.
func (q *Queue) Append(r *oplog.Record) {
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

func (q *Queue) newChunk() *chunk {
	if q.free == nil {
		q.free = q.spare.Swap(nil)
	}
	c := q.free
	if c == nil {
		q.backlog.chunks.Add(1)
		return new(chunk)
	}
	q.free = c.next.Load()
	c.next.Store(nil)
	return c
}

// drain is called by the collector. The slices that it passes to each are valid
// until each returns.
func (q *Queue) drain(each func([]oplog.Record)) {
	for {
		c := q.head
		n := c.n.Load()
		if n > q.read {
			each(c.records[q.read:n])
			q.read = n
		}
		next := c.next.Load()
		if n < chunkLen || next == nil {
			return
		}
		q.head, q.read = next, 0
		q.recycle(c)
	}
}

func (q *Queue) recycle(c *chunk) {
	clear(c.records[:]) // releases the strings
	c.n.Store(0)
	// Between Swap and Store the worker finds nothing and makes a new chunk,
	// which costs it a little memory and no wait.
	c.next.Store(q.spare.Swap(nil))
	q.spare.Store(c)
}
