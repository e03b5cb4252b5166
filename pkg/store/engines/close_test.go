package engines

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// Close closes all idle connections, also for bookkeeping and other identities. The
// connection of a running request is closed when its answer is complete.
func TestClose(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		var open atomic.Int64
		asked, answer := make(chan struct{}), make(chan struct{})
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/slow") {
				asked <- struct{}{}
				<-answer
			}
			w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`)
			w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
			_, _ = io.WriteString(w, "hello")
		}))
		srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Add(-1)
			}
		}
		srv.Start()
		t.Cleanup(srv.Close)
		c, err := New(store.Config{
			Hosts: []store.Address{{Name: strings.TrimPrefix(srv.URL, "http://")}}, Region: "us-east-1", Engine: engine,
			Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}, Others: []store.Credentials{store.Keys{AccessKey: "other", SecretKey: "secret"}},
		})
		check.OK(t, err)
		get := func(key string) error {
			h := c.Acquire()
			defer c.Release(h, nil)
			_, err := h.Get(context.Background(), store.Get{Ref: store.Ref{Bucket: "bucket", Key: key}}, store.NewTrace(time.Now()))
			return err
		}
		check.OK(t, get("a"))
		check.OK(t, get("b")) // like the other one
		_, err = c.BucketExists(context.Background(), "bucket")
		check.OK(t, err)
		slow := make(chan error)
		go func() { slow <- get("slow") }()
		<-asked
		if n := open.Load(); n < 3 {
			t.Errorf("%d connections before Close, want at least 3", n)
		}
		c.Close()
		close(answer)
		check.OK(t, <-slow)
		for deadline := time.Now().Add(20 * time.Second); open.Load() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d connections are left", open.Load())
			}
		}
		check.OK(t, get("again"))
	})
}
