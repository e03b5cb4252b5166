package teststore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns an address on loopback at which nothing listens now.
func FreeAddress(t testing.TB) string {
	t.Helper()
	addrs, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return addrs[0]
}

// freePorts returns addresses on loopback at which nothing listens now. Outgoing connections do not
// use their ports, because those are from 32768 on.
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
		// Keep them open until all are found, so that they differ.
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return nil, errors.New("there are no free ports")
}
