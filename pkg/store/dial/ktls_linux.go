package dial

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// WhyNoKTLS explains why the kernel cannot do TLS for warp.
func WhyNoKTLS() string {
	if err := tryKTLS(); err != nil {
		return fmt.Sprintf("this kernel has no TLS to offer (setting TCP_ULP to tls: %v); the module tls would have to be loaded", err)
	}
	return "this kernel could do TLS, but would need the keys of each session, and Go's TLS library does not hand them out"
}

// tryKTLS tries it on a connection to itself, because the kernel answers only for connected
// sockets.
func tryKTLS() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_ULP, "tls")
	})
	if err != nil {
		return err
	}
	return refused
}
