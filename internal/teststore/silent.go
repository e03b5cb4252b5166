package teststore

import (
	"bytes"
	"net"
	"strconv"
	"testing"
)

// Silent starts a store that answers every request with the same object and makes no
// garbage, so that a test measures only the client. It returns its address.
func Silent(t testing.TB) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveSilently(c)
		}
	}()
	return l.Addr().String()
}

func serveSilently(c net.Conn) {
	defer c.Close()
	const head = "HTTP/1.1 200 OK\r\nServer: none\r\nConnection: keep-alive\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\n" +
		"Last-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\nContent-Type: application/octet-stream\r\nContent-Length: "
	bare, whole := []byte(head+"0\r\n\r\n"), []byte(head+"1024\r\n\r\n"+string(make([]byte, 1024)))
	in, have := make([]byte, 64<<10), 0
	for {
		n, err := c.Read(in[have:])
		if err != nil {
			return
		}
		have += n
		end := bytes.Index(in[:have], []byte("\r\n\r\n"))
		if end < 0 {
			continue
		}
		if at := bytes.Index(in[:end], []byte("Content-Length: ")); at >= 0 {
			digits, _, _ := bytes.Cut(in[at+len("Content-Length: "):], []byte("\r"))
			length, _ := strconv.Atoi(string(digits))
			if have < end+4+length {
				continue
			}
		}
		out := bare
		switch in[0] {
		case 'G':
			out = whole
		case 'H':
			out = whole[:len(whole)-1024]
		}
		have = 0
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}
