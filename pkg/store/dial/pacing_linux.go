package dial

import (
	"net"
	"syscall"
)

// withoutPacing is for a connection to a store on the same machine. Where the system's congestion control is one that
// paces what is sent, as BBR does, that is up to a tenth of the CPU time of uploads, for a network that is not there.
// Reno is always there and allowed; on a connection that loses nothing it does nothing.
func withoutPacing(conn *net.TCPConn) {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptString(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, "reno") // or it stays as it is
		})
	}
}
