package s3

import (
	"net"
	"syscall"
	"testing"
)

// socketBuffers asks the system for the sizes of a connection's buffers.
func socketBuffers(t *testing.T, conn net.Conn) (send, receive int) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	must(t, err)
	must(t, raw.Control(func(fd uintptr) {
		send, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
		receive, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	}))
	return send, receive
}
