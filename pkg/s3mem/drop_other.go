//go:build !linux

package s3mem

import "net"

type dropper struct{ c *net.TCPConn }

func newDropper(c *net.TCPConn) *dropper { return &dropper{c} }

func (d *dropper) drop(n int64) error { return copyDrop(d.c, n) }
