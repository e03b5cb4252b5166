package httpclient

import (
	"fmt"
	"testing"
)

func FuzzHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nETag: \"abc\"\r\nLast-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\nContent-Length: 5\r\n\r\n"), 7)
	f.Add([]byte("HTTP/1.0 404 Not Found\r\nConnection: keep-alive, close\r\nx-amz-bucket-region: eu\r\n\r\n"), 1)
	f.Add([]byte("HTTP/1.1 200\nTransfer-Encoding: chunked\nETag: \"\"\n\n"), 3)
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\n"), 20)
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"), 0)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		whole, pieces := &Head{}, &Head{}
		whole.reset("x-amz-checksum-")
		pieces.reset("x-amz-checksum-")
		used, done, err := whole.feed(data)
		if used > len(data) || whole.Length < -1 || err == nil && done && whole.Status < 100 {
			t.Fatalf("used %d of %d, %+v", used, len(data), whole)
		}
		if len(data) == 0 {
			return
		}
		cut = max(cut, -cut, 0) % len(data)
		// Two pieces of the same bytes give the same result.
		n, over, err2 := pieces.feed(data[:cut])
		if !over && err2 == nil {
			var m int
			m, over, err2 = pieces.feed(data[n:])
			n += m
		}
		if n != used || over != done || fmt.Sprint(err2) != fmt.Sprint(err) || fmt.Sprintf("%+v", pieces) != fmt.Sprintf("%+v", whole) {
			t.Errorf("in one piece %d %t %v %+v\nin two %d %t %v %+v", used, done, err, whole, n, over, err2, pieces)
		}
	})
}

// A head ends at the empty line; what follows belongs to the body.
func TestHeadEnds(t *testing.T) {
	t.Parallel()
	var h Head
	h.reset("")
	received := []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"abc\"\r\n\r\nhello")
	used, done, err := h.feed(received)
	if !done || err != nil || h.Status != 200 || h.Length != 5 || string(h.ETag) != `"abc"` || string(received[used:]) != "hello" {
		t.Errorf("done %t, %v, %+v, and %q follows", done, err, h, received[used:])
	}
}
