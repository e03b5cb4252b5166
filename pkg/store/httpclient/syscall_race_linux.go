//go:build race

package httpclient

import (
	"errors"
	"syscall"
	"unsafe"
)

// Only these two calls make the race detector see that sending happens before the answer.

func sendTo(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Write(int(fd), b)
	return n, errnoOf(err)
}

// receiveMessage receives into b, where m says so. A look at the same bytes gets their time.
func receiveMessage(fd uintptr, m *syscall.Msghdr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(m)), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	if errno != 0 || n == 0 {
		return int(n), errno
	}
	got, err := syscall.Read(int(fd), b[:n])
	return got, errnoOf(err)
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}

func sendVector(fd uintptr, v []syscall.Iovec) (int, syscall.Errno) {
	return sendTo(fd, unsafe.Slice(v[0].Base, v[0].Len))
}
