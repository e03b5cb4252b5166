package s3

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// A rawSocket makes the system calls on a TCP connection itself: a request
// takes one wait instead of a read that fails and then a wait, and payload is
// dropped by the kernel (MSG_TRUNC) instead of being copied. Waiting is still
// the runtime's, with its deadlines.
//
// The steps are called by the runtime with the connection's file descriptor;
// one that returns false is called again when the socket is ready.
type rawSocket struct {
	rc     syscall.RawConn
	out    []byte // still to be sent, and then
	lying  leanQueue
	pushed int64  // bytes sent so far
	in     []byte // where to receive
	got    int
	left   int64 // still to be dropped
	water  int   // SO_RCVLOWAT; 0 = as it was
	err    error
	check  bool // look at the connection before anything is sent
	sent   bool
	begun  bool   // some of out is on its way
	trace  *Trace // told of the last byte sent and the first received
	up     bool   // out ends a payload
	final  bool   // nothing of the request follows out

	asking, sending, receiving, dropping, looking func(fd uintptr) bool
}

// errStale says that a connection was found unusable before anything was sent.
var errStale = errors.New("the connection was closed by the store")

// newRawSocket returns nil where the connection has no socket of its own.
func newRawSocket(nc net.Conn) *rawSocket {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s := &rawSocket{rc: rc}
	s.asking, s.sending, s.receiving, s.dropping, s.looking = s.ask, s.push, s.receive, s.drop, s.look
	return s
}

// quiet says whether neither data nor an end is waiting to be received: what a
// connection looks like that nothing was asked on.
func (s *rawSocket) quiet() bool {
	s.err = nil
	return s.rc.Control(func(fd uintptr) { s.look(fd) }) == nil && s.err == nil
}

// ask sends s.out and receives the first bytes of what comes back. All of it
// runs under one preparation to wait for input, so that no wake-up is lost
// between sending and waiting, and none is needed for the sending.
func (s *rawSocket) ask(fd uintptr) bool {
	if s.sent {
		return s.receive(fd)
	}
	if s.check && !s.look(fd) {
		return true
	}
	s.check = false
	if !s.push(fd) || s.err != nil {
		return true // the caller goes on
	}
	s.sent = true
	return false
}

// look sets s.err where the connection is not quiet.
func (s *rawSocket) look(fd uintptr) bool {
	var b [1]byte
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	if errno != syscall.EAGAIN {
		s.err = errStale
	}
	return errno == syscall.EAGAIN
}

// unsent says whether anything is still to be sent.
func (s *rawSocket) unsent() bool { return len(s.out) > 0 || !s.lying.empty() }

// follow has the content of body from off to end sent behind s.out.
func (s *rawSocket) follow(body PieceBody, off, end int64) { s.lying.begin(body, off, end) }

func (s *rawSocket) push(fd uintptr) bool {
	for s.unsent() {
		var n int
		var errno syscall.Errno
		if s.lying.empty() {
			n, errno = sendTo(fd, s.out)
		} else if s.out, s.err = s.lying.topUp(s.out), s.lying.err; s.err != nil {
			return true
		} else {
			n, errno = sendVector(fd, s.lying.vec)
		}
		switch errno {
		case 0:
			s.advance(n)
		case syscall.EAGAIN:
			return false
		case syscall.EINTR:
		default:
			s.err = os.NewSyscallError("write", errno)
			return true
		}
	}
	if s.final {
		s.trace.sent(s.up)
	}
	return true
}

// advance takes n bytes off what is still to be sent.
func (s *rawSocket) advance(n int) {
	s.begun = true
	s.pushed += int64(n)
	if s.lying.empty() {
		s.out = s.out[n:]
	} else {
		s.lying.advance(n)
	}
}

func (s *rawSocket) receive(fd uintptr) bool {
	n, errno := receiveFrom(fd, s.in)
	switch {
	case errno == syscall.EAGAIN, errno == syscall.EINTR:
		return false
	case errno != 0:
		s.err = os.NewSyscallError("read", errno)
	case n == 0:
		s.err = io.EOF
	default:
		s.got = n
		s.trace.sawFirstByte()
	}
	return true
}

// drop asks the kernel to truncate what it would have copied. It asks for a
// byte more than is expected: what follows an answer would be taken for the
// next one.
func (s *rawSocket) drop(fd uintptr) bool {
	for s.left > 0 && s.err == nil {
		n, _, errno := syscall.Syscall6(syscall.SYS_RECVFROM, fd, 0, uintptr(min(s.left, 1<<30)+1), syscall.MSG_TRUNC|syscall.MSG_DONTWAIT, 0, 0)
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
		}
	}
	s.wakeAt(fd, 0)
	return true
}

// lowWater is how much of a large body has to have arrived for it to be worth
// waking up. The kernel wakes up earlier where the window is full.
const lowWater = 512 << 10

// wakeAt sets when the socket counts as ready, while left bytes are expected.
func (s *rawSocket) wakeAt(fd uintptr, left int64) {
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
