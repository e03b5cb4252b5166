package engines

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"warp/pkg/store"
)

// A store may answer before it has the whole payload, and net/http then still reads it. The race
// detector notices if it reads the next payload.
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
	content := make([]byte, 8<<20) // larger than the socket buffers
	for i := range 20 {
		payload.Reset(content[:4<<20+i])
		put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: "k"}, Body: payload, Size: int64(payload.Len())}
		if _, err := host.Put(context.Background(), put, store.NewTrace(time.Now())); err != nil {
			// The store may close the connection while the body is still being sent.
			t.Logf("upload %d: %v", i, err)
		}
	}
}
