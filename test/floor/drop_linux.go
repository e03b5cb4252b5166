package main

import (
	"io"
	"net"
	"syscall"
)

// A truncater has the kernel discard payload uncopied.
type truncater struct{ rc syscall.RawConn }

func newDropper(c net.Conn) dropper {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return newReader(c)
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		panic(err) // a TCP connection has one
	}
	return truncater{rc}
}

func (d truncater) drop(n int) error {
	for n > 0 {
		var got int
		var errno syscall.Errno
		err := d.rc.Read(func(fd uintptr) bool {
			r, _, e := syscall.Syscall6(syscall.SYS_RECVFROM, fd, 0, uintptr(n), syscall.MSG_TRUNC, 0, 0)
			got, errno = int(r), e
			return e != syscall.EAGAIN
		})
		switch {
		case err != nil:
			return err
		case errno == syscall.EINTR:
		case errno != 0:
			return errno
		case got == 0:
			return io.ErrUnexpectedEOF
		default:
			n -= got
		}
	}
	return nil
}
