package bench

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/pkg/s3"
	"warp/pkg/s3mem"
)

// embeddedStore is the address of a store of the test's own.
func embeddedStore(t *testing.T) string {
	t.Helper()
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.Addr()
}

func clientOf(t *testing.T, addr string) *s3.Client {
	t.Helper()
	c, err := s3.New(s3.Config{Hosts: []s3.Address{{Name: addr}}, Region: "us-east-1", Credentials: credentials.NewStaticV4("k", "s", ""), Concurrency: 10})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// frontedClient talks to a store through a front, which gets the store to hand requests on to.
func frontedClient(t *testing.T, front func(store http.Handler, w http.ResponseWriter, r *http.Request)) *s3.Client {
	t.Helper()
	addr := embeddedStore(t)
	store := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = addr
		front(store, w, r)
	}))
	t.Cleanup(server.Close)
	return clientOf(t, server.Listener.Addr().String())
}

// isAboutMarker says whether a request names a marker, in its path or its body.
func isAboutMarker(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return strings.Contains(r.URL.Path, "/"+markerPrefix) || bytes.Contains(body, []byte(markerPrefix))
}

func nothingIsLeft(t *testing.T, c *s3.Client) {
	t.Helper()
	err := c.List(t.Context(), s3.List{Bucket: "bucket"}, func() {}, func(o s3.Object) bool {
		t.Errorf("%s is left", o.Key)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A write of the marker that had no answer, and was repeated, may be stored after the marker has been removed.
func TestMarkerThatArrivesLate(t *testing.T) {
	t.Parallel()
	var writes atomic.Int64
	gone, arrived := make(chan struct{}), make(chan struct{})
	removed := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(removed)
	c := frontedClient(t, func(store http.Handler, w http.ResponseWriter, r *http.Request) {
		marker := isAboutMarker(r)
		if marker && r.Method == http.MethodPut && writes.Add(1) == 2 {
			late := r.Clone(context.Background())
			go func() {
				<-gone
				store.ServeHTTP(httptest.NewRecorder(), late)
				close(arrived)
			}()
			panic(http.ErrAbortHandler) // closes the connection
		}
		store.ServeHTTP(w, r)
		if marker && (r.Method == http.MethodDelete || r.Method == http.MethodPost) {
			removed()
		}
	})
	r := &Runner{Client: c, Options: Options{Bucket: "bucket", RunID: "r", ClientID: "c", Seed: 1, Concurrency: 1, Lease: time.Hour}}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-arrived
	nothingIsLeft(t, c)
}

// A run that is interrupted while it writes its first marker waits for the answer, or the marker would be stored when
// nobody looks any more.
func TestInterruptedMarker(t *testing.T) {
	t.Parallel()
	gone, arrived := make(chan struct{}), make(chan struct{})
	removed := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(removed)
	ctx, interrupt := context.WithCancel(t.Context())
	var writes atomic.Int64
	c := frontedClient(t, func(store http.Handler, w http.ResponseWriter, r *http.Request) {
		marker := isAboutMarker(r)
		if marker && r.Method == http.MethodPut && writes.Add(1) == 1 {
			interrupt()
			select {
			case <-gone:
			case <-time.After(300 * time.Millisecond):
			}
			answer := httptest.NewRecorder() // the proxy gives up a request of a client that has gone
			store.ServeHTTP(answer, r.Clone(context.Background()))
			close(arrived)
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			return
		}
		store.ServeHTTP(w, r)
		if marker && (r.Method == http.MethodDelete || r.Method == http.MethodPost) {
			removed()
		}
	})
	r := &Runner{Client: c, Options: Options{Bucket: "bucket", RunID: "r", ClientID: "c", Seed: 1, Concurrency: 1, Lease: time.Hour}}
	if err := r.Open(ctx); err == nil {
		t.Fatal("nothing was interrupted")
	}
	if err := r.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-arrived
	nothingIsLeft(t, c)
}

// What is removed by its own name is counted, also where all other objects stay because they are another run's too.
func TestFixedObjectsAreCounted(t *testing.T) {
	t.Parallel()
	ctx, c, counter := t.Context(), clientOf(t, embeddedStore(t)), &countingProgress{Progress: Silent{}}
	r := &Runner{Client: c, Progress: counter, Options: Options{Bucket: "bucket", Concurrency: 1}}
	if _, err := r.openBucket(ctx); err != nil {
		t.Fatal(err)
	}
	m := &marker{Run: "dead", Prefix: "warp-1/", Seed: 1, Claimed: true, Fixed: &fixedObject{Key: "by/name"}}
	put := s3.Put{Ref: s3.Ref{Bucket: "bucket", Key: m.Fixed.Key}, Body: bytes.NewReader(nil), Headers: []s3.Header{{Name: "x-amz-meta-" + runMetadata, Value: m.Run}}}
	host := c.Acquire()
	defer c.Release(host, nil)
	if _, err := host.Put(ctx, put, s3.NewTrace(time.Now())); err != nil {
		t.Fatal(err)
	}
	others := []foundMarker{{marker: marker{Run: "alive", Prefix: m.Prefix, Claimed: true, Keep: true}}}
	would, err := r.wouldRemove(ctx, m, others, map[s3.Ref]bool{}, func(string, s3.Object) {})
	if err != nil || would != 1 {
		t.Errorf("%d objects would be removed (%v), want 1", would, err)
	}
	if err := r.removeObjects(ctx, m, others, time.Time{}); err != nil || counter.n.Load() != 1 {
		t.Errorf("%d objects were removed (%v), want 1", counter.n.Load(), err)
	}
}
