package s3

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A layout is a payload of which only some lies in memory.
type layout struct {
	*bytes.Reader
	data  []byte
	lies  func(off int64) bool // at off's 1000 bytes
	asked int
}

func (l *layout) Pieces(off int64, dst [][]byte) (n int, end int64) {
	l.asked++
	next := func(off int64) int64 { return min((off/1000+1)*1000, int64(len(l.data))) }
	for end = off; n < len(dst) && end < int64(len(l.data)) && l.lies(end/1000); n++ {
		dst[n] = l.data[end:next(end)]
		end = next(end)
	}
	if n > 0 {
		return n, end
	}
	for end < int64(len(l.data)) && !l.lies(end/1000) {
		end = next(end)
	}
	return 0, end
}

// A store gets the same bytes wherever they come from, also where the socket
// takes them in parts only.
func TestLeanSendsPieces(t *testing.T) {
	t.Parallel()
	layouts := map[string]func(int64) bool{
		"all lies":     func(int64) bool { return true },
		"none lies":    func(int64) bool { return false },
		"first not":    func(n int64) bool { return n >= 64 },
		"last not":     func(n int64) bool { return n < 3 },
		"now and then": func(n int64) bool { return n%7 > 2 },
	}
	for name, lies := range layouts {
		for _, size := range []int{0, 1, 1000, 70_001, 5_000_000} {
			for _, more := range []int{0, 1, 5000} {
				t.Run(fmt.Sprint(name, "/", size, "+", more), func(t *testing.T) {
					t.Parallel()
					sendLayout(t, size, more, lies)
				})
			}
		}
	}
}

func sendLayout(t *testing.T, size, more int, lies func(int64) bool) {
	rec := startRecorder(t, false)
	h := oneHost(t, Config{Engine: "lean", UnsignedPayload: true, Credentials: credentials.NewStaticV4("k", "s", "")}, rec.listener.Addr().String())
	data := make([]byte, size+more)
	for i := range data {
		data[i] = byte(i * 7 >> (i / 1000 % 5))
	}
	for range 2 {
		body := &layout{Reader: bytes.NewReader(data), data: data, lies: lies}
		tr := NewTrace(time.Now())
		put := Put{Ref: Ref{Bucket: "bucket", Key: "k"}, Body: body, Size: int64(size)}
		if _, err := h.Put(context.Background(), put, tr); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(rec.last(), "\r\n\r\n")
		if got != string(data[:size]) {
			t.Fatalf("%d bytes arrived, want %d, or they are others", len(got), size)
		}
		if body.asked == 0 && size > 0 && runtime.GOOS == "linux" {
			t.Error("nobody asked where the payload lies")
		}
		if (tr.LastByte() > 0) != (size > 0) {
			t.Errorf("last byte after %v", tr.LastByte())
		}
	}
}
