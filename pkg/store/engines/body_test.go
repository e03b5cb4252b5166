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
		put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: "k"}, Body: payload, Size: int64(payload.Len())}
		if _, err := host.Put(context.Background(), put, store.NewTrace(time.Now())); err != nil {
			// Hanging up on a body that the store did not wait for is allowed.
			t.Logf("upload %d: %v", i, err)
		}
	}
}
