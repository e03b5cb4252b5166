package engines

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// clientOf returns a client for one handler, and its only host.
func clientOf(t *testing.T, handler http.HandlerFunc) (*store.Client, *store.Host) {
	t.Helper()
	return clientAs(t, S3, handler)
}

// clientAs is clientOf for a kind of store.
func clientAs(t *testing.T, provider string, handler http.HandlerFunc) (*store.Client, *store.Host) {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	c, err := New(store.Config{
		Provider:    provider,
		Hosts:       []store.Address{{Name: srv.Listener.Addr().String()}},
		Region:      "us-east-1",
		Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"},
		Concurrency: 1,
	})
	check.OK(t, err)
	return c, c.Acquire()
}

func answer(status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

const slowDown = `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce
your request rate.</Message></Error>`

var goodHeader = map[string]string{
	"ETag": `"abc"`, "Last-Modified": "Sat, 21 Nov 2026 00:00:00 GMT", "Content-Length": "100",
}

// hangUp announces 100 bytes and sends 10.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, buf, _ := w.(http.Hijacker).Hijack()
	fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nETag: \"abc\"\r\nLast-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\nContent-Length: 100\r\n\r\n0123456789")
	buf.Flush()
	conn.Close()
}

func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, _ := w.(http.Hijacker).Hijack()
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

func garbage(w http.ResponseWriter, _ *http.Request) {
	conn, buf, _ := w.(http.Hijacker).Hijack()
	buf.WriteString("SSH-2.0-OpenSSH_9.2\r\n\r\n")
	buf.Flush()
	conn.Close()
}

func TestErrorsHaveCodeAndStatus(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handler http.HandlerFunc
		code    string
		status  int
	}{
		"store's own error":  {answer(503, nil, slowDown), "SlowDown", 503},
		"no S3 error at all": {answer(502, nil, "<html>Bad Gateway</html>"), "HTTP502", 502},
		"no body":            {answer(500, nil, ""), "HTTP500", 500},
		"not found":          {answer(404, nil, `<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>`), "NoSuchKey", 404},
		"short body":         {hangUp, store.CodeShortRead, 200},
		"reset":              {reset, store.CodeReset, 0},
		"not HTTP":           {garbage, store.CodeBadAnswer, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, host := clientOf(t, test.handler)
			tr := store.NewTrace(time.Now())
			_, err := host.Get(context.Background(), store.Get{Ref: store.Ref{Bucket: "bucket", Key: "k"}}, tr)
			e, ok := err.(*store.Error)
			if !ok {
				t.Fatalf("error is %T (%v), want *Error", err, err)
			}
			if e.Code != test.code || e.Status != test.status {
				t.Errorf("code %s, status %d, want %s, %d (%v)", e.Code, e.Status, test.code, test.status, err)
			}
			if strings.ContainsAny(e.Error(), "\r\n") || strings.Contains(e.Error(), "http://") {
				t.Errorf("message %q has more than one line, or a URL", e.Error())
			}
		})
	}
}

// minio-go sleeps after a failed request, even if it does not repeat it. The sleep must not be
// measured.
func TestFailedRequestIsNotDelayed(t *testing.T) {
	t.Parallel()
	n := 0
	_, host := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		answer(503, nil, slowDown)(w, r)
	})
	const batch, batches = 10, 5
	best := time.Hour
	start := time.Now()
	for i := range batch * batches {
		if i%batch == 0 {
			start = time.Now()
		}
		tr := store.NewTrace(time.Now())
		if _, err := host.Stat(context.Background(), store.Ref{Bucket: "bucket", Key: "k"}, tr); err == nil {
			t.Fatal("a 503 is no error")
		}
		if tr.Requests() != 1 {
			t.Fatalf("%d requests were sent for one", tr.Requests())
		}
		if i%batch == batch-1 {
			best = min(best, time.Since(start))
		}
	}
	if n != batch*batches {
		t.Errorf("the store saw %d requests, want %d", n, batch*batches)
	}
	// With the library's pause each batch would take 1 s. The best one counts, because the machine
	// may be busy.
	if best > time.Second/2 {
		t.Errorf("%d failures took %v", batch, best)
	}
}

func TestTraceSeesDownload(t *testing.T) {
	t.Parallel()
	_, host := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(30 * time.Millisecond)
		h := w.Header()
		for k, v := range goodHeader {
			h.Set(k, v)
		}
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		time.Sleep(time.Second) // long, because a busy machine may see the first byte late
		_, _ = w.Write(make([]byte, 100))
	})
	tr := store.NewTrace(time.Now())
	start := time.Now()
	d, err := host.Get(context.Background(), store.Get{Ref: store.Ref{Bucket: "bucket", Key: "k"}}, tr)
	total := time.Since(start)
	check.OK(t, err)
	if d.Bytes != 100 || d.ETag != "abc" || tr.Status() != 200 || tr.Requests() != 1 {
		t.Errorf("got %+v, status %d, %d requests", d, tr.Status(), tr.Requests())
	}
	if fb := tr.FirstByte(); fb < 30*time.Millisecond || fb > total-100*time.Millisecond {
		t.Errorf("first byte after %v of %v, want between 30ms and 100ms before the end", fb, total)
	}
	if tr.LastByte() != 0 {
		t.Errorf("a download has a last byte sent: %v", tr.LastByte())
	}
}

func TestTraceSeesUpload(t *testing.T) {
	t.Parallel()
	_, host := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		buf := make([]byte, 32<<10)
		for {
			if _, err := r.Body.Read(buf); err != nil {
				break
			}
		}
		time.Sleep(time.Second) // long, because a busy machine may note the last byte late
		w.Header().Set("ETag", `"abc"`)
	})
	tr := store.NewTrace(time.Now())
	start := time.Now()
	put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: "k"}, Body: bytes.NewReader(make([]byte, 100_000)), Size: 100_000}
	obj, err := host.Put(context.Background(), put, tr)
	total := time.Since(start)
	check.OK(t, err)
	if obj.ETag != "abc" || obj.Size != 100_000 {
		t.Errorf("got %+v", obj)
	}
	if lb := tr.LastByte(); lb == 0 || lb > total-100*time.Millisecond {
		t.Errorf("last byte sent after %v of %v, want 100ms before the end", lb, total)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	addr := ln.Addr().String()
	ln.Close()
	c, err := New(store.Config{Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}})
	check.OK(t, err)
	_, err = c.BucketExists(context.Background(), "bucket")
	if err == nil || !strings.Contains(err.Error(), "nothing answers at") || !strings.Contains(err.Error(), addr) {
		t.Errorf("error %v, want one that says that nothing answers at %s", err, addr)
	}
	if !store.IsConnection(err) {
		t.Errorf("%v does not count as a failed connection", err)
	}
}

func TestBookkeepingSurvivesBusyStore(t *testing.T) {
	t.Parallel()
	n := 0
	c, _ := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n%3 != 0 {
			answer(503, nil, slowDown)(w, r)
			return
		}
		answer(200, nil, `<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>`)(w, r)
	})
	state, err := c.Versioning(context.Background(), "bucket")
	if err != nil || state != "Enabled" {
		t.Errorf("state %q, %v; want Enabled after two refusals", state, err)
	}
}

func TestDeleteCountsConfirmations(t *testing.T) {
	t.Parallel()
	refs := []store.Ref{{Bucket: "bucket", Key: "a"}, {Bucket: "bucket", Key: "b"}}
	tests := map[string]struct{ body, code string }{
		"all":     {`<DeleteResult><Deleted><Key>a</Key></Deleted><Deleted><Key>b</Key></Deleted></DeleteResult>`, ""},
		"one":     {`<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>`, "AccessDenied"},
		"silence": {`<DeleteResult></DeleteResult>`, store.CodeBadAnswer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, host := clientOf(t, answer(200, nil, test.body))
			err := host.Delete(context.Background(), refs, store.NewTrace(time.Now()))
			if store.CodeOf(err) != test.code {
				t.Errorf("code %q (%v), want %q", store.CodeOf(err), err, test.code)
			}
		})
	}
}
