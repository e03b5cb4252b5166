package s3mem

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"warp/internal/check"

	"github.com/minio/minio-go/v7"
)

func startNull(t testing.TB, o NullOptions) *Null {
	t.Helper()
	n, err := StartNull(o)
	check.OK(t, err)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return n
}

// With TLS, the store gives the same answers, and discards payload that it has to decrypt.
func TestNullTLS(t *testing.T) {
	t.Parallel()
	n := startNull(t, NullOptions{Size: 100_000, TLS: true})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for _, method := range []string{"PUT", "GET"} {
		req, err := http.NewRequest(method, "https://"+n.Addr()+"/b/k", bytes.NewReader(make([]byte, 300_000)))
		check.OK(t, err)
		resp, err := client.Do(req)
		check.OK(t, err)
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || method == "GET" && len(got) != 100_000 {
			t.Errorf("%s: %s with %d bytes: %v", method, resp.Status, len(got), err)
		}
	}
	if n.bytesIn.Load() != 600_000 {
		t.Errorf("%d bytes arrived", n.bytesIn.Load())
	}
}

// minio-go accepts all answers of the null store, for small objects and for objects of several
// pieces.
func TestNull(t *testing.T) {
	for _, size := range []int{0, 1024, 100_000, 3*nullPiece + 17} {
		n := startNull(t, NullOptions{Size: int64(size)})
		c := newClient(t, n.Addr())
		want := bytes.Repeat([]byte("x"), size)
		info := put(t, c, "k", want, minio.PutObjectOptions{})
		if info.ETag != md5Hex(want) {
			t.Errorf("ETag %s of the upload, want %s", info.ETag, md5Hex(want))
		}
		if got := get(t, c, "k", minio.GetObjectOptions{}); !bytes.Equal(got, want) {
			t.Errorf("got %d other bytes, want %d", len(got), size)
		}
		st, err := c.StatObject(t.Context(), "bkt", "k", minio.StatObjectOptions{})
		if err != nil || st.Size != int64(size) || st.ETag != info.ETag {
			t.Errorf("StatObject: %+v, %v", st, err)
		}
		if size > 100 {
			var o minio.GetObjectOptions
			o.SetRange(10, 99)
			if got := get(t, c, "k", o); len(got) != 90 {
				t.Errorf("a range of 90 bytes has %d", len(got))
			}
		}
		if n.Count("PUT") != 1 || n.Count("HEAD") != 1 || n.bytesIn.Load() < int64(size) {
			t.Errorf("counted %d PUT, %d HEAD, %d bytes", n.Count("PUT"), n.Count("HEAD"), n.bytesIn.Load())
		}
		nullBuckets(t, c)
	}
}

func nullBuckets(t *testing.T, c *minio.Core) {
	t.Helper()
	ctx := t.Context()
	if err := c.MakeBucket(ctx, "bkt", minio.MakeBucketOptions{}); err != nil {
		t.Error(err)
	}
	if ok, err := c.BucketExists(ctx, "bkt"); !ok || err != nil {
		t.Errorf("BucketExists: %v, %v", ok, err)
	}
	if _, err := c.ListBuckets(ctx); err != nil {
		t.Error(err)
	}
	if v, err := c.GetBucketVersioning(ctx, "bkt"); err != nil || v.Enabled() {
		t.Errorf("versioning %+v, %v", v, err)
	}
	if _, err := c.GetBucketLocation(ctx, "bkt"); err != nil {
		t.Error(err)
	}
	for _, o := range []minio.ListObjectsOptions{{Recursive: true}, {UseV1: true}, {WithVersions: true}} {
		for info := range c.Client.ListObjects(ctx, "bkt", o) {
			t.Errorf("listed %+v", info)
		}
	}
	names := make(chan minio.ObjectInfo, 1)
	names <- minio.ObjectInfo{Key: "k"}
	close(names)
	for err := range c.RemoveObjects(ctx, "bkt", names, minio.RemoveObjectsOptions{}) {
		t.Error(err)
	}
	if err := c.RemoveObject(ctx, "bkt", "k", minio.RemoveObjectOptions{}); err != nil {
		t.Error(err)
	}
	big := payload(11 << 20)
	put(t, c, "big", big, minio.PutObjectOptions{PartSize: 5 << 20})
}

func TestNullDelayAndFreeze(t *testing.T) {
	n := startNull(t, NullOptions{Size: 10, Delay: func(method, target string) time.Duration {
		if method == "GET" && strings.HasSuffix(target, "/slow") {
			return time.Second
		}
		return 0
	}})
	c := newClient(t, n.Addr())
	timed := func(key string) time.Duration {
		begin := time.Now()
		get(t, c, key, minio.GetObjectOptions{})
		return time.Since(begin)
	}
	if d := timed("slow"); d < time.Second {
		t.Errorf("the slow object took %s", d)
	}
	gets := int64(1)
	best := time.Hour
	for range 5 { // the best counts: the machine may be busy
		gets++
		if best = min(best, timed("fast")); best < time.Second {
			break
		}
	}
	if best >= time.Second {
		t.Errorf("the fast object took %s", best)
	}
	frozen := time.Now()
	n.Freeze(200 * time.Millisecond)
	if timed("fast"); time.Since(frozen) < 200*time.Millisecond {
		t.Errorf("an object came %s after the freeze began", time.Since(frozen))
	}
	if gets++; int64(requestsOf(n)) != gets || int64(n.Count("GET")) != gets {
		t.Errorf("%d requests, want %d", requestsOf(n), gets)
	}
}

func TestNullTakesChunkedBodies(t *testing.T) {
	n := startNull(t, NullOptions{})
	c, err := net.Dial("tcp", n.Addr())
	check.OK(t, err)
	defer c.Close()
	io.WriteString(c, "PUT /b/k HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx-t: 1\r\n\r\n"+
		"PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nde")
	c.(*net.TCPConn).CloseWrite()
	answer, err := io.ReadAll(c)
	if got := strings.Count(string(answer), "HTTP/1.1 200 "); got != 2 || n.bytesIn.Load() != 5 || err != nil {
		t.Errorf("%d answers, %d bytes in, %v", got, n.bytesIn.Load(), err)
	}
}

// A batch deletion confirms every name, because clients count them.
func TestNullConfirmsDeletions(t *testing.T) {
	t.Parallel()
	c := newClient(t, startNull(t, NullOptions{}).Addr())
	want := map[string]bool{"a/1": true, "b&<2>": true, "c 3": true}
	names := make(chan minio.ObjectInfo, len(want))
	for name := range want {
		names <- minio.ObjectInfo{Key: name}
	}
	close(names)
	for r := range c.RemoveObjectsWithResult(t.Context(), "bkt", names, minio.RemoveObjectsOptions{}) {
		if r.Err != nil || !want[r.ObjectName] {
			t.Errorf("%q: %v", r.ObjectName, r.Err)
		}
		delete(want, r.ObjectName)
	}
	if len(want) != 0 {
		t.Errorf("not confirmed: %v", want)
	}
}

// requestsOf returns the number of requests that have arrived at n.
func requestsOf(n *Null) (sum int64) {
	for i := range n.counts {
		sum += n.counts[i].Load()
	}
	return sum
}
