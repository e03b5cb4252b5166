package engines

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"warp/pkg/store"
)

// A layout is a payload whose end is in memory, in pieces of 1000 bytes.
type layout struct {
	*bytes.Reader
	data         []byte
	inMemoryFrom int64
	asked        int
}

func (l *layout) InMemoryFrom() int64 { l.asked++; return min(l.inMemoryFrom, int64(len(l.data))) }

func (l *layout) Pieces(off int64, dst [][]byte) (n int) {
	for n < len(dst) && off < int64(len(l.data)) {
		end := min((off/1000+1)*1000, int64(len(l.data)))
		dst[n] = l.data[off:end]
		n, off = n+1, end
	}
	return n
}

// A store gets the same bytes wherever they are stored, even if the socket accepts only some at a
// time.
func TestLeanSendsPieces(t *testing.T) {
	t.Parallel()
	for _, inMemoryFrom := range []int64{0, 1, 64 << 10, 3 << 20, 1 << 40} {
		for _, size := range []int{0, 1, 1000, 70_001, 5_000_000} {
			for _, more := range []int{0, 1, 5000} {
				t.Run(fmt.Sprint(inMemoryFrom, "/", size, "+", more), func(t *testing.T) {
					t.Parallel()
					sendLayout(t, size, more, inMemoryFrom)
				})
			}
		}
	}
}

// The memory may contain less than announced.
func TestLeanPiecesEndEarly(t *testing.T) {
	t.Parallel()
	h := oneHost(t, store.Config{Engine: "lean", UnsignedPayload: true, Credentials: store.Keys{AccessKey: "k", SecretKey: "s"}},
		startRecorder(t, false).listener.Addr().String())
	data := make([]byte, 100_000)
	body := &layout{Reader: bytes.NewReader(data), data: data}
	_, err := h.Put(context.Background(), store.Put{Ref: store.Ref{Bucket: "bucket", Key: "k"}, Body: body, Size: 200_000}, store.NewTrace(time.Now()))
	if store.CodeOf(err) != "RequestFailed" {
		t.Errorf("%v, want RequestFailed", err)
	}
}

func sendLayout(t *testing.T, size, more int, inMemoryFrom int64) {
	rec := startRecorder(t, false)
	h := oneHost(t, store.Config{Engine: "lean", UnsignedPayload: true, Credentials: store.Keys{AccessKey: "k", SecretKey: "s"}}, rec.listener.Addr().String())
	data := make([]byte, size+more)
	for i := range data {
		data[i] = byte(i * 7 >> (i / 1000 % 5))
	}
	for range 2 {
		body := &layout{Reader: bytes.NewReader(data), data: data, inMemoryFrom: inMemoryFrom}
		tr := store.NewTrace(time.Now())
		put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: "k"}, Body: body, Size: int64(size)}
		if _, err := h.Put(context.Background(), put, tr); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(rec.last(), "\r\n\r\n")
		if got != string(data[:size]) {
			t.Fatalf("%d bytes arrived, want %d, or they are others", len(got), size)
		}
		if body.asked == 0 && size > 0 && runtime.GOOS == "linux" {
			t.Error("nobody asked where the payload inMemoryFrom")
		}
		if (tr.LastByte() > 0) != (size > 0) {
			t.Errorf("last byte after %v", tr.LastByte())
		}
	}
}
