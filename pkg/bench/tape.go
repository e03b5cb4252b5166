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

// A tape carries records from one worker to the collector. The worker alone
// appends, the collector alone drains, and neither ever waits for the other.
type tape struct {
	tail *chunk // worker's
	free *chunk // worker's: chunks to use again

	head *chunk // collector's
	read uint32 // collector's: records of head already taken

	spare atomic.Pointer[chunk] // on the way back from the collector

	allocated *atomic.Int64 // chunks in existence, over all tapes
	worker    int           // whose rows these are

	busy atomic.Pointer[string] // the operation under way; nil = none
	ops  []*string              // worker's: those that it has performed
}

// begin is called by the worker before a request, and says what was under way
// until then: a request may be part of another one.
func (t *tape) begin(op string) (outer *string) {
	outer = t.busy.Load()
	for _, known := range t.ops {
		if *known == op {
			t.busy.Store(known)
			return outer
		}
	}
	t.ops = append(t.ops, new(op))
	t.busy.Store(t.ops[len(t.ops)-1])
	return outer
}

func newTape(allocated *atomic.Int64) *tape {
	c := new(chunk)
	allocated.Add(1)
	return &tape{tail: c, head: c, allocated: allocated}
}

// append is called by the worker.
func (t *tape) append(r *oplog.Record) {
	c := t.tail
	i := c.n.Load()
	if i == chunkLen {
		next := t.newChunk()
		c.next.Store(next)
		t.tail = next
		c, i = next, 0
	}
	c.records[i] = *r
	c.n.Store(i + 1) // publishes the record
}

func (t *tape) newChunk() *chunk {
	if t.free == nil {
		t.free = t.spare.Swap(nil)
	}
	c := t.free
	if c == nil {
		t.allocated.Add(1)
		return new(chunk)
	}
	t.free = c.next.Load()
	c.next.Store(nil)
	return c
}

// drain is called by the collector. The slices it hands to each are valid
// until each returns.
func (t *tape) drain(each func([]oplog.Record) error) error {
	for {
		c := t.head
		n := c.n.Load()
		if n > t.read {
			if err := each(c.records[t.read:n]); err != nil {
				return err
			}
			t.read = n
		}
		next := c.next.Load()
		if n < chunkLen || next == nil {
			return nil
		}
		t.head, t.read = next, 0
		t.giveBack(c)
	}
}

func (t *tape) giveBack(c *chunk) {
	clear(c.records[:]) // lets go of the strings
	c.n.Store(0)
	// Between Swap and Store the worker finds nothing and makes a new chunk,
	// which costs it a little memory and no wait.
	c.next.Store(t.spare.Swap(nil))
	t.spare.Store(c)
}
