package httpclient

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamps receive from a socket together with the time at which the data arrived in the kernel. The message belongs to the
// socket, so that a call allocates nothing.
type stamps struct {
	msg     syscall.Msghdr
	vec     syscall.Iovec
	control stampMessage
	buffer  int // SO_RCVBUF at the last look
}

// A stampMessage is the ancillary message of SO_TIMESTAMPING. The first time is the kernel's, the others would come from
// the network card.
type stampMessage struct {
	syscall.Cmsghdr
	times [3]syscall.Timespec
}

// ask makes the kernel stamp what arrives. Where it cannot, there are no stamps. The kernel begins to stamp a few
// milliseconds after the first socket asked.
func (s *stamps) ask(fd uintptr) {
	const flags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE
	_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, unix.SO_TIMESTAMPING, flags)
	s.buffer, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
}

// receive receives into b.
func (s *stamps) receive(fd uintptr, b []byte) (int, syscall.Errno) {
	s.vec.Base = &b[0]
	s.vec.SetLen(len(b))
	return receiveMessage(fd, s.message(), b)
}

// drop makes the kernel discard up to n bytes.
func (s *stamps) drop(fd uintptr, n int) (int, syscall.Errno) {
	s.vec.Base = nil
	s.vec.SetLen(n)
	got, _, errno := syscall.Syscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(s.message())), syscall.MSG_TRUNC|syscall.MSG_DONTWAIT)
	return int(got), errno
}

func (s *stamps) message() *syscall.Msghdr {
	s.control.Level = 0
	s.msg.Iov, s.msg.Iovlen = &s.vec, 1
	s.msg.Control = (*byte)(unsafe.Pointer(&s.control))
	s.msg.SetControllen(int(unsafe.Sizeof(s.control)))
	return &s.msg
}

// last returns when the last byte of the last call arrived, in unix ns; 0 = unknown.
func (s *stamps) last() int64 {
	if c := &s.control; c.Level == syscall.SOL_SOCKET && c.Type == unix.SCM_TIMESTAMPING && int(s.msg.Controllen) >= int(unsafe.Sizeof(*c)) {
		return c.times[0].Nano()
	}
	return 0
}

// crowded reports whether the n bytes of the last call were more than half of the receive buffer, and looks up its size
// for the next call, because this one may have enlarged it.
func (s *stamps) crowded(fd uintptr, n int) bool {
	before := s.buffer
	if n > before/8 {
		s.buffer, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	}
	return n > before/2
}
