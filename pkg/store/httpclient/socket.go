package httpclient

import (
	"errors"
	"net"
	"time"

	"warp/pkg/store"
)

// errStale is returned for a connection that was unusable before anything was sent.
var errStale = errors.New("the connection was closed by the store")

// errAnswered is returned if the store answered, or hung up, before it had the whole request.
var errAnswered = errors.New("the store answered before it had received all")

// maxCollected is how many bytes a socket collects before it sends them: four of the largest TLS
// records.
const maxCollected = 65 << 10

// A socket is the connection below all requests, with or without TLS. Write collects bytes, and
// Read sends them before it waits for an answer, so that TLS needs as few system calls as plain
// requests. The runtime does the waiting. The watchdog interrupts it, and the wait continues unless
// the request was aborted.
type socket struct {
	net.Conn // for its addresses, deadlines and Close
	c        *Conn
	kernel   // makes the system calls

	out        []byte // to be sent next
	own        []byte // memory for out if the connection has none
	begun      bool   // part of the request has been sent
	checkFirst bool   // check the connection before sending anything

	trace       *store.Trace // gets the time when the last of a request is sent; nil until that is in out
	payloadEnds bool         // out ends a payload
	wire        *store.Trace // gets the times by the kernel's clock; nil = they are not wanted
}

// begin prepares for another request.
func (s *socket) begin() {
	s.begun, s.wire = false, nil
	if s.c.tls == nil { // TLS may still have something to send
		s.abandon()
	}
}

// abandon drops unsent bytes.
func (s *socket) abandon() {
	s.out, s.trace = nil, nil
	s.follow(nil, 0, 0)
}

// Write collects b.
func (s *socket) Write(b []byte) (int, error) {
	if len(s.out) > 0 && len(s.out)+len(b) > maxCollected {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	all := &s.own
	if s.c.memory != nil {
		all = &s.c.collected
	}
	if len(s.out) == 0 {
		*all = (*all)[:0]
	}
	from := len(*all) - len(s.out)
	*all = append(*all, b...)
	s.out = (*all)[from:]
	return len(b), nil
}

// send sends b.
func (s *socket) send(b []byte) error {
	s.out = b
	return s.flush()
}

// endRequest marks the bytes written so far as the end of a request. Read then reports to tr when
// it sends them. payloadEnds says whether they end a payload.
func (s *socket) endRequest(tr *store.Trace, payloadEnds bool) {
	s.trace, s.payloadEnds = tr, payloadEnds
}

// clock returns the time to report for the next send. It is read before the system call, which may
// return long after the store has received everything. So the time until the answer is never
// shorter than the store's, and includes delays in the client.
func (s *socket) clock() time.Duration {
	if s.trace == nil {
		return 0
	}
	return time.Since(s.trace.Base())
}

// sent reports that the last of a request was sent at a time returned by clock.
func (s *socket) sent(at time.Duration) {
	s.trace.Sent(s.payloadEnds, at)
	s.trace.SentAll(at)
	s.trace = nil
}
