//go:build !linux

package s3

import (
	"errors"
	"net"
	"syscall"
)

// errStale says that a connection was found unusable before anything was sent.
var errStale = errors.New("the connection was closed by the store")

// A rawSocket exists under Linux only; elsewhere net.Conn does it all.
type rawSocket struct {
	rc                                   syscall.RawConn
	out, in                              []byte
	pushed                               int64
	got                                  int
	left                                 int64
	err                                  error
	check, sent, begun, up, final        bool
	trace                                *Trace
	asking, sending, receiving, dropping func(fd uintptr) bool
}

func newRawSocket(net.Conn) *rawSocket { return nil }

func (s *rawSocket) quiet() bool { return true }

func (s *rawSocket) unsent() bool { return false }

func (s *rawSocket) follow(PieceBody, int64, int64) {}
