//go:build !race

package httpclient

import (
	"syscall"
	"unsafe"
)

// None of these calls ever blocks, so they bypass the scheduler. It would take the processor away
// after 20 µs and wake up another thread, which costs more than the call.

func sendTo(fd uintptr, b []byte) (int, syscall.Errno) {
	const flags = syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), flags, 0, 0)
	return int(n), errno
}

// receiveMessage receives into b, where m says so.
func receiveMessage(fd uintptr, m *syscall.Msghdr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(m)), syscall.MSG_DONTWAIT)
	return int(n), errno
}

// sendVector may use writev, because the runtime has made the socket non-blocking and handles
// SIGPIPE.
func sendVector(fd uintptr, v []syscall.Iovec) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&v[0])), uintptr(len(v)))
	return int(n), errno
}
