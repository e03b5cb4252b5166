package engines

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/s3provider"
)

// The headers of a Put are sent signed and in one request, whatever the size. The size in the
// answer becomes the object's size.
func TestPutHeaders(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"empty": 0, "small": 100, "in chunks": 100 << 10, "above the size of parts": 20 << 20} {
		for _, engine := range []string{s3provider.Minio, s3provider.Lean} {
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				var seen []*http.Request
				c, _ := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					mu.Lock()
					seen = append(seen, r)
					mu.Unlock()
					w.Header().Set("ETag", `"abc"`)
					w.Header().Set("X-Amz-Object-Size", "12345")
				})
				cfg := store.Config{Hosts: []store.Address{{Name: c.Acquire().Endpoint[len("http://"):]}}, Region: "us-east-1",
					Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}, Concurrency: 1, Engine: engine}
				c, err := New(cfg)
				check.OK(t, err)
				o, err := c.Acquire().Put(context.Background(), store.Put{
					Ref: store.Ref{Bucket: "bucket", Key: "k"}, Body: bytes.NewReader(make([]byte, size)), Size: int64(size),
					Headers: []store.Header{{Name: "x-amz-write-offset-bytes", Value: "7"}, {Name: "x-amz-meta-a", Value: "b"}},
				}, store.NewTrace(time.Now()))
				check.OK(t, err)
				if o.Size != 12345 || o.ETag != "abc" {
					t.Errorf("the object is %+v", o)
				}
				if len(seen) != 1 {
					t.Fatalf("%d requests, want one", len(seen))
				}
				h := seen[0].Header
				if h.Get("X-Amz-Write-Offset-Bytes") != "7" || h.Get("X-Amz-Meta-A") != "b" {
					t.Errorf("headers %v", h)
				}
				if !strings.Contains(h.Get("Authorization"), "x-amz-meta-a;x-amz-write-offset-bytes") {
					t.Errorf("they are not signed: %s", h.Get("Authorization"))
				}
			})
		}
	}
}
