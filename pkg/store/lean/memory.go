package lean

import (
	"hash"
	"sync"
	"time"

	"warp/pkg/store/lean/answer"
	"warp/pkg/store/s3/xmlscan"
)

// A memory contains everything that is needed to build a request and to read its answer, including
// the signer. A connection has one only while it does so, and none while it waits. So thousands of
// waiting connections need little memory, and the requests of a processor reuse the same memory,
// which stays in its cache.
type memory struct {
	in        []byte // received, between r and w
	r, w      int
	ask       []byte // the request's head
	out       []byte // payload to be sent
	collected []byte // collected by the socket for one system call
	pieceRoom *pieceRoom
	kept      []byte // the document that was received last
	cut       bool   // it was longer than kept

	fields  []field   // of the request, in the order of their names
	pending []field   // the fields that are still to be appended
	key     string    // the object's key, for the values of fields
	sum     hash.Hash // the checksum of the upload
	scanner xmlscan.Scanner
	listing answer.Listing

	head    answer.Head
	objects stringCache

	signer     signer
	second     int64  // the engine's second when the signer got its time and credentials
	bucket     string // the signer's region is this bucket's
	generation uint32 // the generation of the regions
}

// maxKept limits the memory for documents that is kept for the next request.
const maxKept = 4 << 20

// acquireMemory gives the connection memory if it has none.
func (c *conn) acquireMemory() {
	if c.memory == nil {
		c.memory = c.e.memory.Get().(*memory)
		c.r, c.w = 0, 0
	}
}

// releaseMemory returns the connection's memory to the pool once nothing in it is needed.
func (c *conn) releaseMemory() {
	m := c.memory
	if m == nil {
		return
	}
	if cap(m.kept) > maxKept {
		m.kept, m.listing = nil, answer.Listing{}
	}
	c.memory = nil
	c.e.memory.Put(m)
}

// noteSecond stores the current time for signers. Reading the clock for each request costs more
// than it is worth, since a signature is valid for minutes.
func (e *Engine) noteSecond(now time.Time) {
	if second := now.Unix(); e.second.Load() != second {
		e.second.Store(second)
	}
}

// discardBuffers receive payload that the kernel does not discard itself. Reads larger than 128
// KiB save no system calls on loopback.
var discardBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}
