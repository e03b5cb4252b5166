package engines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// A hangingUp store answers the first request on each connection. It receives the second one, and closes the
// connection in good order without an answer.
type hangingUp struct {
	*httptest.Server
	mu       sync.Mutex
	served   map[string]bool // by address of the client
	received int             // second requests, and what follows them
}

func startHangingUp(t *testing.T) *hangingUp {
	t.Helper()
	s := &hangingUp{served: make(map[string]bool)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *hangingUp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	again := s.served[r.RemoteAddr]
	s.served[r.RemoteAddr] = true
	if again || s.received > 0 {
		s.received++
	}
	s.mu.Unlock()
	if again {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("ETag", `"0123"`)
	w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Length", "1")
	}
}

// With NoRepeat, neither lean nor minio-go sends a request again that the store has received and not
// answered.
func TestNoRepeat(t *testing.T) {
	t.Parallel()
	ref := store.Ref{Bucket: "bucket", Key: "key"}
	body := func() store.Put { return store.Put{Ref: ref, Body: bytes.NewReader([]byte("x")), Size: 1} }
	upload := store.Upload{Ref: ref, ID: "id"}
	requests := map[string]func(ctx context.Context, h *store.Host, tr *store.Trace) error{
		"PUT": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			_, err := h.Put(ctx, body(), tr)
			return err
		},
		"PUT with a condition": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			p := body()
			p.If.Absent = true
			_, err := h.Put(ctx, p, tr)
			return err
		},
		"GET": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			_, err := h.Get(ctx, store.Get{Ref: ref}, tr)
			return err
		},
		"HEAD": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			_, err := h.Stat(ctx, ref, tr)
			return err
		},
		"DELETE": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			return h.Delete(ctx, []store.Ref{ref}, tr)
		},
		"DELETE with a condition": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			return h.DeleteIf(ctx, ref, store.Condition{Is: "0123"}, tr)
		},
		"listing": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			return h.List(ctx, store.List{Bucket: "bucket"}, func(store.Object) bool { return true }, tr)
		},
		"start": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			_, err := h.StartUpload(ctx, body(), tr)
			return err
		},
		"part": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			_, err := h.PutPart(ctx, store.PutPart{Upload: upload, Number: 1, Body: bytes.NewReader([]byte("x")), Size: 1}, tr)
			return err
		},
		"complete": func(ctx context.Context, h *store.Host, tr *store.Trace) error {
			u := upload
			u.If.Absent = true
			_, err := h.CompleteUpload(ctx, u, []store.Part{{Number: 1, ETag: "0123"}}, tr)
			return err
		},
		"abort": func(ctx context.Context, h *store.Host, tr *store.Trace) error { return h.AbortUpload(ctx, upload, tr) },
	}
	for _, engine := range []string{"lean", "minio"} {
		for name, request := range requests {
			t.Run(fmt.Sprintf("%s %s", engine, name), func(t *testing.T) {
				t.Parallel()
				s := startHangingUp(t)
				c, err := New(store.Config{Hosts: []store.Address{{Name: s.Listener.Addr().String()}}, Region: "us-east-1", Concurrency: 1,
					Engine: engine, Credentials: store.Keys{AccessKey: "key", SecretKey: "secretsecret"}, Options: store.Options{NoRepeat: true}})
				check.OK(t, err)
				t.Cleanup(c.Close)
				h := c.Acquire()
				first := requests["HEAD"] // opens the connection
				if name == "start" || name == "complete" || name == "abort" || engine == "minio" {
					first = requests["abort"] // the one of minio-go
				}
				_ = first(t.Context(), h, store.NewTrace(time.Now()))
				tr := store.NewTrace(time.Now())
				if err := request(t.Context(), h, tr); err == nil || tr.Requests() != 1 {
					t.Errorf("%d requests, %v", tr.Requests(), err)
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.received != 1 {
					t.Errorf("the store received the request %d times", s.received)
				}
			})
		}
	}
}
