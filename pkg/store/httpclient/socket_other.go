//go:build !linux

package httpclient

import (
	"net"
	"time"

	"warp/pkg/store"
)

// A kernel is empty except on Linux, because net.Conn does all the work.
type kernel struct{}

func newSocket(c *Conn, tcp *net.TCPConn) (*socket, error) {
	return &socket{Conn: tcp, c: c}, nil
}

type pieceRoom struct{}

// sendsPieces reports whether payload can be sent from where it is in memory.
const sendsPieces = false

func (s *socket) follow(store.PieceBody, int64, int64) {}

// unsent reports whether anything is still to be sent.
func (s *socket) unsent() bool { return len(s.out) > 0 }

// silent returns true, because it cannot tell.
func (s *socket) silent() bool { return true }

// flush sends what was collected, and waits if it has to.
func (s *socket) flush() error {
	for len(s.out) > 0 {
		at := s.clock()
		n, err := s.Conn.Write(s.out)
		if n > 0 {
			s.begun, s.out = true, s.out[n:]
			s.c.progress()
		}
		if err != nil && !s.c.resume(err) {
			return err
		}
		if s.trace != nil && len(s.out) == 0 {
			s.sent(at)
		}
	}
	return nil
}

// flushNow sends what was collected, within a second.
func (s *socket) flushNow() {
	s.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = s.Conn.Write(s.out) // there is nobody to report an error to
}

// await sends what was collected. Read does the waiting.
func (s *socket) await() error {
	s.c.enterPhase(phaseSend)
	err := s.flush()
	s.c.enterPhase(phaseAwait)
	return err
}

// Read sends what was collected and receives.
func (s *socket) Read(p []byte) (int, error) {
	if err := s.flush(); err != nil {
		return 0, err
	}
	for {
		n, err := s.Conn.Read(p)
		if n > 0 || err != nil && !s.c.resume(err) {
			return n, err
		}
	}
}

// discard is never called, because the kernel cannot discard here.
func (s *socket) discard(n int64) (dropped int64, err error) { return s.c.readAndDiscard(n) }
