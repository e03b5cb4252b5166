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

func receiveFrom(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Read(int(fd), b)
	return n, errnoOf(err)
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}

func sendVector(fd uintptr, v []syscall.Iovec) (int, syscall.Errno) {
	return sendTo(fd, unsafe.Slice(v[0].Base, v[0].Len))
}
