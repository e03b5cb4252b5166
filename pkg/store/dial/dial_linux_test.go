package dial

import (
	"net"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"warp/internal/check"
	"warp/pkg/store"
)

// socketBuffers returns the sizes of a connection's buffers.
func socketBuffers(t *testing.T, conn net.Conn) (send, receive int) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	mustDial(t, err)
	mustDial(t, raw.Control(func(fd uintptr) {
		send, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
		receive, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	}))
	return send, receive
}

// A connection to a store on the same machine sends at once as much as the socket accepts, whatever
// the system's congestion control.
func TestNoPacingOnThisMachine(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	mustDial(t, err)
	defer l.Close()
	conn, err := NewDialer(&store.Config{}).Connect(t.Context(), l.Addr().String())
	mustDial(t, err)
	defer conn.Close()
	raw, err := conn.SyscallConn()
	mustDial(t, err)
	mustDial(t, raw.Control(func(fd uintptr) {
		var name [16]byte
		size := uint32(len(name))
		_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_CONGESTION,
			uintptr(unsafe.Pointer(&name)), uintptr(unsafe.Pointer(&size)), 0)
		if got := strings.TrimRight(string(name[:]), "\x00"); errno != 0 || got != "reno" {
			t.Errorf("congestion control is %s (%v), want reno, which does not pace", got, errno)
		}
	}))
}

func mustDial(t *testing.T, err error) {
	t.Helper()
	check.OK(t, err)
}
