package s3mem

import (
	"io"
	"net"
	"syscall"
)

// A truncater removes bytes from a socket without copying them to the process.
type truncater struct {
	rc   syscall.RawConn
	left int64
	err  error
	step func(fd uintptr) bool
}

func newDropper(c net.Conn) dropper {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return &readDropper{c: c} // TLS has to decrypt them
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return &readDropper{c: c}
	}
	d := &truncater{rc: rc}
	d.step = d.receive
	return d
}

func (d *truncater) drop(n int64) error {
	if n == 0 {
		return nil
	}
	for d.left, d.err = n, nil; d.left > 0 && d.err == nil; {
		if err := d.rc.Read(d.step); err != nil {
			return err
		}
	}
	return d.err
}

// receive makes the kernel discard the data instead of copying it. It returns false to wait for
// more.
func (d *truncater) receive(fd uintptr) bool {
	n, _, errno := syscall.Syscall6(syscall.SYS_RECVFROM, fd, 0, uintptr(d.left), syscall.MSG_TRUNC, 0, 0)
	switch {
	case errno == syscall.EAGAIN:
		return false
	case errno == syscall.EINTR:
	case errno != 0:
		d.err = errno
	case n == 0:
		d.err = io.ErrUnexpectedEOF
	default:
		d.left -= int64(n)
	}
	return true
}
