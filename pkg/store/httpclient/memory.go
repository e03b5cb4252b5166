package httpclient

import (
	"sync"
	"time"
)

// A memory contains everything that is needed to build a request and to read its answer. A
// connection has one only while it does so, and none while it waits. So thousands of waiting
// connections need little memory, and the requests of a processor reuse the same memory, which
// stays in its cache.
type memory struct {
	in        []byte // received, between r and w
	r, w      int
	Head      []byte // the request's head
	out       []byte // payload to be sent
	collected []byte // collected by the socket for one system call
	pieceRoom *pieceRoom
	answer
	state any // of the API's writer
}

// maxKept limits the memory for documents that is kept for the next request.
const maxKept = 4 << 20

// acquireMemory gives the connection memory if it has none.
func (c *Conn) acquireMemory() {
	if c.memory == nil {
		c.memory = c.pool.memory.Get().(*memory)
		c.r, c.w = 0, 0
	}
}

// releaseMemory returns the connection's memory to the pool once nothing in it is needed.
func (c *Conn) releaseMemory() {
	m := c.memory
	if m == nil {
		return
	}
	if cap(m.kept) > maxKept {
		m.kept = nil
	}
	c.memory = nil
	c.pool.memory.Put(m)
}

// noteSecond stores the current time for signers. Reading the clock for each request costs more
// than it is worth, since a signature is valid for minutes.
func (p *pool) noteSecond(now time.Time) {
	if second := now.Unix(); p.second.Load() != second {
		p.second.Store(second)
	}
}

// discardBuffers receive payload that the kernel does not discard itself. Reads larger than 128
// KiB save no system calls on loopback.
var discardBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}
