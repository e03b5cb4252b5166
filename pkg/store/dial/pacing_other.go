//go:build !linux

package dial

import "net"

func withoutPacing(*net.TCPConn) {}
