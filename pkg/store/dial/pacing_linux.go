package dial

import (
	"net"
	"syscall"
)

// withoutPacing turns pacing off on a connection to a store on the same machine. If the system's
// congestion control paces, as BBR does, it costs up to a tenth of the CPU time of uploads, for a
// network that is not there. Reno is always available and permitted, and does nothing on a
// connection without loss.
func withoutPacing(conn *net.TCPConn) {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptString(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, "reno") // optional
		})
	}
}
