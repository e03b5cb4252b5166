package store

import (
	"hash"
	"time"
)

// A leanMemory is all that a request needs to be built and its answer to be read,
// who signs it included. A connection has one only while it does either, and none
// while it waits: thousands of connections that wait then need little memory, and
// the requests of a processor use the same again and again, which stays in its
// cache.
type leanMemory struct {
	in        []byte // received, between r and w
	r, w      int
	ask       []byte // the request's head
	out       []byte // payload on its way
	collected []byte // by the socket, for one system call
	lying     *leanQueueRoom
	kept      []byte // the document that was received last
	cut       bool   // it was longer than what is kept

	fields  []leanField // of the request, in the order of their names
	further []leanField // those of them that are still to be appended
	key     string      // of the request, for their values
	sum     hash.Hash   // the checksum of what is uploaded
	scanner xmlScanner
	listing leanListing

	head    leanHead
	objects leanStrings

	signer     leanSigner
	same       leanHeaders
	second     int64  // the engine's when the signer learnt the time and the credentials
	bucket     string // the signer's region is this bucket's
	generation uint32 // of the regions
}

// leanKeptMost is how much memory for documents is held on to.
const leanKeptMost = 4 << 20

// borrow has the connection have memory.
func (c *leanConn) borrow() {
	if c.leanMemory == nil {
		c.leanMemory = c.e.memory.Get().(*leanMemory)
		c.r, c.w = 0, 0
	}
}

// giveBack is for when nothing in the connection's memory is needed any more.
func (c *leanConn) giveBack() {
	m := c.leanMemory
	if m == nil {
		return
	}
	if cap(m.kept) > leanKeptMost {
		m.kept, m.listing = nil, leanListing{}
	}
	c.leanMemory = nil
	c.e.memory.Put(m)
}

// beat notes the time for those who sign. To ask the clock for each request costs
// more than it is worth, since a signature is valid for minutes.
func (e *leanEngine) beat(now time.Time) {
	if second := now.Unix(); e.second.Load() != second {
		e.second.Store(second)
	}
}
