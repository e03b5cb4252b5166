//go:build !linux

package main

import (
	"io"
	"net"
)

// A dropper discards payload by reading it.
type dropper struct{ c *net.TCPConn }

func newDropper(c *net.TCPConn) dropper { return dropper{c} }

func (d dropper) drop(n int) error {
	_, err := io.CopyN(io.Discard, d.c, int64(n))
	return err
}
