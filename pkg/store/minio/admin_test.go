package minio

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// The time limit also ends an answer that arrives byte by byte.
func TestAdminHasTimeLimit(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
		for r.Context().Err() == nil {
			io.WriteString(w, " ")
			http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}))
	t.Cleanup(srv.Close)
	e, err := openEngine(&store.Config{Region: "us-east-1"}, store.Address{Name: srv.Listener.Addr().String()},
		answerCheck{total: 200 * time.Millisecond, admin: true}, time.Minute, nil, new(store.Counters))
	check.OK(t, err)
	a := &Admin{Engine: e}
	for name, ask := range map[string]func(context.Context) error{
		"Versioning": func(ctx context.Context) error { _, err := a.Versioning(ctx, "bucket"); return err },
		"ObjectLock": func(ctx context.Context) error { _, err := a.ObjectLock(ctx, "bucket"); return err },
		"List": func(ctx context.Context) error {
			return a.List(ctx, store.List{Bucket: "bucket"}, func(store.Object) bool { return true }, nil)
		},
		"Uploads": func(ctx context.Context) error {
			return a.Uploads(ctx, "bucket", "p/", func(store.Upload) error { return nil })
		},
		"Delete": func(ctx context.Context) error {
			return a.Delete(ctx, []store.Ref{{Bucket: "bucket", Key: "a"}, {Bucket: "bucket", Key: "b"}}, nil)
		},
		"Read": func(ctx context.Context) error {
			_, err := a.Read(ctx, store.Ref{Bucket: "bucket", Key: "k"})
			return err
		},
		"SetVersioning": func(ctx context.Context) error { return a.SetVersioning(ctx, "bucket", false) },
	} {
		if err := ask(t.Context()); store.CodeOf(err) != store.CodeStallTimeout {
			t.Errorf("%s: %v", name, err)
		}
	}
}
