//go:build !race

package s3

import (
	"syscall"
	"unsafe"
)

// largeSend is from where on a send is announced to the scheduler, which may
// then give the processor to another worker.
const largeSend = 16 << 10

func sendTo(fd uintptr, b []byte) (int, syscall.Errno) {
	const flags = syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT
	if len(b) > largeSend {
		n, _, errno := syscall.Syscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
		return int(n), errno
	}
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
	return int(n), errno
}

func receiveFrom(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), syscall.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}
