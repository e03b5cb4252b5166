//go:build !linux

package store

import "net"

func withoutPacing(*net.TCPConn) {}
