//go:build !linux

package dial

import (
	"net"
	"testing"
)

func socketBuffers(t *testing.T, _ net.Conn) (send, receive int) {
	t.Skip("only Linux says how large they are")
	return 0, 0
}
