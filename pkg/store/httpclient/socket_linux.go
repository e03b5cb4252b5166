package httpclient

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"warp/pkg/store"
)

// A kernel makes the system calls on a TCP connection itself. A request then needs one wait instead
// of a failing read and a wait, and the kernel drops payload (MSG_TRUNC) instead of copying it. The
// runtime still does the waiting, with its deadlines.
//
// The runtime calls the steps with the connection's file descriptor. It calls a step that returns
// false again when the socket is ready.
type kernel struct {
	rc     syscall.RawConn
	pieces pieceQueue // to be sent after out
	pushed int64      // bytes sent so far
	in     []byte     // where to receive
	got    int
	stamps stamps
	left   int64 // still to be dropped
	water  int   // SO_RCVLOWAT; 0 = as it was
	err    error

	again bool // the wait for an answer was interrupted

	awaiting, sending, receiving, dropping func(fd uintptr) bool
}

func newSocket(c *Conn, tcp *net.TCPConn) (*socket, error) {
	rc, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: tcp, c: c, kernel: kernel{rc: rc}}
	if err := rc.Control(func(fd uintptr) { s.stamps.ask(fd) }); err != nil {
		return nil, err
	}
	s.awaiting, s.sending, s.receiving, s.dropping = s.ready, s.push, s.receive, s.drop
	return s, nil
}

// sendsPieces reports whether payload can be sent from where it is in memory.
const sendsPieces = true

// follow queues the content of body from off to end after s.out.
func (s *socket) follow(body store.PieceBody, off, end int64) {
	if body != nil && s.c.pieceRoom == nil {
		s.c.pieceRoom = new(pieceRoom)
	}
	if body != nil {
		s.pieces.room = s.c.pieceRoom
	}
	s.pieces.begin(body, off, end)
}

// unsent reports whether anything is still to be sent.
func (s *socket) unsent() bool { return len(s.out) > 0 || !s.pieces.empty() }

// silent reports whether there is nothing to receive, not even the end of the connection. This is
// normal between requests.
func (s *socket) silent() bool {
	s.err = nil
	return s.rc.Control(func(fd uintptr) { s.checkSilent(fd) }) == nil && s.err == nil
}

// flush sends what was collected, and waits if it has to.
func (s *socket) flush() error {
	for s.err = nil; s.unsent() && s.err == nil; {
		before := s.pushed
		err := s.rc.Write(s.sending)
		if s.pushed != before {
			s.c.progress()
		}
		if err != nil && !s.c.resume(err) {
			return err
		}
		// Under TLS, waiting data need not be an answer.
		if err != nil && s.c.tls == nil && !s.silent() {
			return errAnswered
		}
	}
	return s.err
}

// flushNow sends as much of what was collected as it can without waiting.
func (s *socket) flushNow() {
	_ = s.rc.Control(func(fd uintptr) { s.push(fd) }) // there is nobody to report an error to
}

// await sends what was collected and waits for something to receive. One preparation to wait for
// input covers both, so that no wake-up is lost between sending and waiting, and sending needs
// none. Meanwhile the connection releases its memory.
func (s *socket) await() error {
	for s.err, s.again = nil, false; ; s.again = true {
		err := s.rc.Read(s.awaiting)
		switch {
		case err != nil && !s.c.resume(err):
			return err
		case s.err != nil:
			return s.err
		case s.unsent():
			s.c.enterPhase(phaseSend)
			if err := s.flush(); err != nil {
				return err
			}
			s.c.releaseMemory()
			s.c.enterPhase(phaseAwait)
		case err == nil:
			return nil
		}
	}
}

// ready is the step of await. It also returns true if not everything can be sent at once.
func (s *socket) ready(fd uintptr) bool {
	if s.unsent() {
		if !s.push(fd) || s.err != nil {
			return true
		}
		s.c.releaseMemory()
		return false
	}
	return !s.again || !empty(fd)
}

// Read sends what was collected and receives.
func (s *socket) Read(p []byte) (int, error) {
	if s.unsent() {
		if err := s.flush(); err != nil {
			return 0, err
		}
	}
	for {
		s.in, s.got, s.err = p, 0, nil
		if err := s.rc.Read(s.receiving); err == nil {
			return s.got, s.err
		} else if !s.c.resume(err) {
			return 0, err
		}
	}
}

// checkSilent sets s.err and returns false if the connection is not silent.
func (s *socket) checkSilent(fd uintptr) bool {
	if !empty(fd) {
		s.err = errStale
		return false
	}
	return true
}

// empty reports whether there is nothing to receive, not even the end.
func empty(fd uintptr) bool {
	var b [1]byte
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	return errno == syscall.EAGAIN
}

func (s *socket) push(fd uintptr) bool {
	if s.checkFirst && !s.checkSilent(fd) {
		return true
	}
	s.checkFirst = false
	for s.unsent() {
		var n int
		var errno syscall.Errno
		at := s.clock()
		if s.pieces.empty() {
			n, errno = sendTo(fd, s.out)
		} else if s.out, s.err = s.pieces.topUp(s.out), s.pieces.err; s.err != nil {
			return true
		} else {
			n, errno = sendVector(fd, s.pieces.vec)
		}
		switch errno {
		case 0:
			s.advance(n)
		case syscall.EAGAIN:
			s.wire.NoWireTime() // the time until there is room is the store's or the network's
			return false
		case syscall.EINTR:
		default:
			s.err = os.NewSyscallError("write", errno)
			return true
		}
		if s.trace != nil && !s.unsent() {
			s.sent(at)
		}
	}
	return true
}

// advance removes n bytes from what is still to be sent.
func (s *socket) advance(n int) {
	s.begun = true
	s.pushed += int64(n)
	if s.pieces.empty() {
		s.out = s.out[n:]
	} else {
		s.pieces.advance(n)
	}
}

func (s *socket) receive(fd uintptr) bool {
	n, errno := s.stamps.receive(fd, s.in)
	switch {
	case errno == syscall.EAGAIN, errno == syscall.EINTR:
		return false
	case errno != 0:
		s.err = os.NewSyscallError("read", errno)
	case n == 0:
		s.err = io.EOF
	default:
		s.got = n
		s.received(fd, n)
	}
	return true
}

// smallPart is how much can wait in the kernel without ever making the store wait.
const smallPart = 4 << 10

// received passes on when the n bytes of the last call arrived, and when they were received.
func (s *socket) received(fd uintptr, n int) {
	if s.wire == nil {
		return
	}
	var now int64
	if n > smallPart {
		now = time.Now().UnixNano()
	}
	s.wire.Arrived(s.stamps.last(), now, n >= piled)
	if s.stamps.crowded(fd, n) {
		s.wire.NoWireTime()
	}
}

// discard receives and discards up to n bytes. It returns io.EOF if the connection ended before.
// Bytes after the end of an answer would be taken for the next answer, so they break the
// connection.
func (s *socket) discard(n int64) (dropped int64, err error) {
	s.left, s.err = n, nil
	for s.left > 0 && s.err == nil {
		before := s.left
		err := s.rc.Read(s.dropping)
		if s.left < before {
			s.c.progress()
		}
		if err != nil && !s.c.resume(err) {
			return n - s.left, err
		}
	}
	if s.left < 0 {
		s.left, s.c.broken = 0, true // the answer is longer than announced
	}
	return n - s.left, s.err
}

// drop asks the kernel to discard what it would have copied. It asks for one byte more than
// expected, see discard.
func (s *socket) drop(fd uintptr) bool {
	for s.left > 0 && s.err == nil {
		n, errno := s.stamps.drop(fd, int(min(s.left, 1<<30)+1))
		switch {
		case errno == syscall.EAGAIN:
			s.wakeAt(fd, s.left)
			return false
		case errno == syscall.EINTR:
		case errno != 0:
			s.err = os.NewSyscallError("read", errno)
		case n == 0:
			s.err = io.EOF
		default:
			s.left -= int64(n)
			s.received(fd, n)
		}
	}
	s.wakeAt(fd, 0)
	return true
}

// lowWater is how much of a large body has to arrive before it is worth waking up. The kernel
// wakes up earlier if the receive window is full.
const lowWater = 512 << 10

// piled is how much waits in the kernel only if warp did not wake up at lowWater.
const piled = 2 * lowWater

// wakeAt sets how much has to arrive before the socket counts as ready, while left bytes are
// expected.
func (s *socket) wakeAt(fd uintptr, left int64) {
	want := 1
	if left >= 2*lowWater {
		want = lowWater
	}
	if want == s.water || want == 1 && s.water == 0 {
		return
	}
	if syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, want) == nil {
		s.water = want
	}
}
