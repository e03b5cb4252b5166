package store

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// A store may answer before it has the whole payload, and net/http then still
// reads it. The race detector sees if that reaches the next payload.
func TestBodyIsFreeWhenTheAnswerIsThere(t *testing.T) {
	t.Parallel()
	_, host := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"abc"`)
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		time.Sleep(5 * time.Millisecond)
		_, _ = io.Copy(io.Discard, r.Body)
	})
	payload := bytes.NewReader(nil)
	content := make([]byte, 8<<20) // more than the sockets hold
	for i := range 20 {
		payload.Reset(content[:4<<20+i])
		put := Put{Ref: Ref{Bucket: "bucket", Key: "k"}, Body: payload, Size: int64(payload.Len())}
		if _, err := host.Put(context.Background(), put, NewTrace(time.Now())); err != nil {
			// Hanging up on a body that the store did not wait for is allowed.
			t.Logf("upload %d: %v", i, err)
		}
	}
}

func TestLentBodyIsEmptyWhenTakenBack(t *testing.T) {
	t.Parallel()
	l := &lentBody{body: bytes.NewReader([]byte("payload"))}
	p := make([]byte, 3)
	if n, err := l.Read(p); n != 3 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	if n, err := l.ReadAt(p, 4); n != 3 || err != nil || string(p) != "oad" {
		t.Fatalf("read %q, %v", p[:n], err)
	}
	l.takeBack()
	if n, err := l.Read(p); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v after it was taken back", n, err)
	}
	if n, err := l.ReadAt(p, 0); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v after it was taken back", n, err)
	}
	if _, err := l.Seek(0, io.SeekStart); err == nil {
		t.Error("seek worked after it was taken back")
	}
}
