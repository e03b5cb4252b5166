package teststore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress is an address on loopback that nothing listens on at this moment.
func FreeAddress(t testing.TB) string {
	t.Helper()
	addrs, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return addrs[0]
}

// freePorts returns addresses on loopback that nothing listens on at this moment, and that outgoing connections do
// not take before somebody does: they have ports from 32768 on.
func freePorts(n int) ([]string, error) {
	var addrs []string
	for range 1000 {
		if len(addrs) == n {
			return addrs, nil
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)))
		if err != nil {
			continue
		}
		// Held until all are found, so that they differ.
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return nil, errors.New("there are no free ports")
}
