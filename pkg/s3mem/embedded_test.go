package s3mem

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
)

func start(t testing.TB, o EmbeddedOptions) (*Embedded, *minio.Core) {
	t.Helper()
	e, err := Start(o)
	check.OK(t, err)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	c := newClient(t, e.Addr())
	check.OK(t, c.MakeBucket(t.Context(), "bkt", minio.MakeBucketOptions{}))
	return e, c
}

func newClient(t testing.TB, addr string) *minio.Core {
	t.Helper()
	c, err := minio.NewCore(addr, &minio.Options{Creds: credentials.NewStaticV4("any", "anything", ""), Region: "us-east-1",
		TrailingHeaders: true, MaxRetries: 1})
	check.OK(t, err)
	return c
}

func put(t testing.TB, c *minio.Core, key string, data []byte, o minio.PutObjectOptions) minio.UploadInfo {
	t.Helper()
	info, err := c.Client.PutObject(t.Context(), "bkt", key, bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		t.Fatalf("PutObject of %s: %v", key, err)
	}
	return info
}

func get(t testing.TB, c *minio.Core, key string, o minio.GetObjectOptions) []byte {
	t.Helper()
	body, _, _, err := c.GetObject(t.Context(), "bkt", key, o)
	if err != nil {
		t.Fatalf("GetObject of %s: %v", key, err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	check.OK(t, err)
	return data
}

func payload(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 >> (i % 5))
	}
	return b
}

func md5Hex(b []byte) string { s := md5.Sum(b); return hex.EncodeToString(s[:]) }

// All forms in which minio-go frames an upload store the payload and return its ETag.
func TestUploadForms(t *testing.T) {
	_, c := start(t, EmbeddedOptions{})
	for name, o := range map[string]minio.PutObjectOptions{
		"streaming": {},
		"plain":     {DisableContentSha256: true},
		"md5":       {SendContentMd5: true},
		"crc32":     {Checksum: minio.ChecksumCRC32},
		"crc32c":    {Checksum: minio.ChecksumCRC32C},
		"crc64nvme": {Checksum: minio.ChecksumCRC64NVME},
		"sha1":      {Checksum: minio.ChecksumSHA1},
		"sha256":    {Checksum: minio.ChecksumSHA256},
	} {
		for _, size := range []int{0, 1, 1024, 65536, 65537, 200_000} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				want := payload(size)
				o.UserMetadata = map[string]string{"Colour": "blue"}
				o.ContentType = "text/plain"
				info := put(t, c, name, want, o)
				if info.ETag != md5Hex(want) {
					t.Errorf("ETag %s, want %s", info.ETag, md5Hex(want))
				}
				if got := get(t, c, name, minio.GetObjectOptions{}); !bytes.Equal(got, want) {
					t.Errorf("got %d other bytes", len(got))
				}
				st, err := c.StatObject(t.Context(), "bkt", name, minio.StatObjectOptions{})
				if err != nil || st.Size != int64(size) || st.ETag != info.ETag || st.ContentType != "text/plain" ||
					st.UserMetadata["Colour"] != "blue" || st.Metadata.Get("Content-Encoding") != "" || time.Since(st.LastModified) > time.Minute {
					t.Errorf("StatObject: %+v, %v", st, err)
				}
			})
		}
	}
}

func TestRanges(t *testing.T) {
	_, c := start(t, EmbeddedOptions{})
	want := payload(10_000)
	put(t, c, "k", want, minio.PutObjectOptions{})
	for _, r := range [][2]int64{{0, 0}, {0, 9999}, {5, 5}, {9999, 9999}, {100, 20_000}, {0, -100}, {9000, 0}} {
		var o minio.GetObjectOptions
		check.OK(t, o.SetRange(r[0], r[1]))
		from, to := r[0], min(r[1]+1, 10_000)
		switch {
		case r[1] < 0:
			from, to = 10_000+r[1], 10_000
		case r[0] > 0 && r[1] == 0:
			to = 10_000
		}
		if got := get(t, c, "k", o); !bytes.Equal(got, want[from:to]) {
			t.Errorf("range %v gives %d bytes, want %d", r, len(got), to-from)
		}
	}
	var beyond minio.GetObjectOptions
	beyond.SetRange(10_000, 10_001)
	_, _, _, err := c.GetObject(t.Context(), "bkt", "k", beyond)
	wantCode(t, err, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
}

func wantCode(t *testing.T, err error, status int, code string) {
	t.Helper()
	if r := minio.ToErrorResponse(err); err == nil || r.StatusCode != status || code != "" && r.Code != code {
		t.Errorf("got %v (%d %s), want %d %s", err, r.StatusCode, r.Code, status, code)
	}
}

func TestMissing(t *testing.T) {
	_, c := start(t, EmbeddedOptions{})
	ctx := t.Context()
	_, _, _, err := c.GetObject(ctx, "bkt", "none", minio.GetObjectOptions{})
	wantCode(t, err, 404, "NoSuchKey")
	_, err = c.StatObject(ctx, "bkt", "none", minio.StatObjectOptions{})
	wantCode(t, err, 404, "NoSuchKey")
	_, err = c.Client.PutObject(ctx, "nobucket", "k", strings.NewReader("x"), 1, minio.PutObjectOptions{})
	wantCode(t, err, 404, "NoSuchBucket")
	wantCode(t, c.MakeBucket(ctx, "bkt", minio.MakeBucketOptions{}), 409, "BucketAlreadyExists")
	if ok, err := c.BucketExists(ctx, "nobucket"); ok || err != nil {
		t.Errorf("BucketExists: %v, %v", ok, err)
	}
	if err := c.RemoveObject(ctx, "bkt", "none", minio.RemoveObjectOptions{}); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
}

func TestListAndMultiDelete(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	ctx := t.Context()
	var want []string
	for i := range 2500 {
		key := fmt.Sprintf("run/%d/%05d", i%3, i)
		put(t, c, key, []byte("x"), minio.PutObjectOptions{DisableContentSha256: true})
		want = append(want, key)
	}
	slices.Sort(want)
	for _, o := range []minio.ListObjectsOptions{{Recursive: true}, {Recursive: true, MaxKeys: 7}, {Recursive: true, UseV1: true}} {
		var got []string
		for info := range c.Client.ListObjects(ctx, "bkt", o) {
			if info.Err != nil {
				t.Fatal(info.Err)
			}
			got = append(got, info.Key)
			if info.ETag != md5Hex([]byte("x")) || info.Size != 1 {
				t.Fatalf("%+v", info)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v lists %d keys, want %d", o, len(got), len(want))
		}
	}
	names := make(chan minio.ObjectInfo)
	go func() {
		defer close(names)
		for _, key := range want {
			names <- minio.ObjectInfo{Key: key}
		}
	}()
	for err := range c.RemoveObjects(ctx, "bkt", names, minio.RemoveObjectsOptions{}) {
		t.Fatal(err)
	}
	if err := c.RemoveBucket(ctx, "bkt"); err != nil {
		t.Errorf("removing the empty bucket: %v", err)
	}
	if e.mem.used.Load() != 0 {
		t.Errorf("%d bytes are accounted for nothing", e.mem.used.Load())
	}
}

func TestMultipart(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	ctx := t.Context()
	want := payload(12 << 20)
	info := put(t, c, "k", want, minio.PutObjectOptions{PartSize: 5 << 20, NumThreads: 3})
	if !strings.HasSuffix(info.ETag, "-3") {
		t.Errorf("ETag %s", info.ETag)
	}
	st, err := c.StatObject(ctx, "bkt", "k", minio.StatObjectOptions{})
	if err != nil || st.ETag != info.ETag || st.Size != int64(len(want)) {
		t.Errorf("StatObject: %s, %d, %v; want %s", st.ETag, st.Size, err, info.ETag)
	}
	if got := get(t, c, "k", minio.GetObjectOptions{}); !bytes.Equal(got, want) {
		t.Errorf("got %d other bytes", len(got))
	}
	var o minio.GetObjectOptions
	o.SetRange(5<<20-10, 10<<20+9)
	if got := get(t, c, "k", o); !bytes.Equal(got, want[5<<20-10:10<<20+10]) {
		t.Error("a range over three parts is wrong")
	}
	c.RemoveObject(ctx, "bkt", "k", minio.RemoveObjectOptions{})
	id, err := c.NewMultipartUpload(ctx, "bkt", "k2", minio.PutObjectOptions{})
	check.OK(t, err)
	if _, err := c.PutObjectPart(ctx, "bkt", "k2", id, 1, bytes.NewReader(want[:5<<20]), 5<<20, minio.PutObjectPartOptions{}); err != nil {
		t.Fatal(err)
	}
	parts, err := c.ListObjectParts(ctx, "bkt", "k2", id, 0, 10)
	if err != nil || len(parts.ObjectParts) != 1 || parts.ObjectParts[0].Size != 5<<20 {
		t.Errorf("parts %+v, %v", parts, err)
	}
	_, err = c.CompleteMultipartUpload(ctx, "bkt", "k2", id, []minio.CompletePart{{PartNumber: 1, ETag: "wrong"}}, minio.PutObjectOptions{})
	wantCode(t, err, 400, "InvalidPart")
	check.OK(t, c.AbortMultipartUpload(ctx, "bkt", "k2", id))
	if e.mem.used.Load() != 0 {
		t.Errorf("%d bytes are accounted for nothing", e.mem.used.Load())
	}
}

// An upload beyond the limit is rejected with the reason, the callback is called once, and deleting
// or overwriting objects makes room.
func TestMemoryLimit(t *testing.T) {
	calls := make(chan error, 10)
	e, c := start(t, EmbeddedOptions{MemoryLimit: 4 << 20, OnFull: func(err error) { calls <- err }})
	data := payload(1 << 20)
	for range 20 {
		put(t, c, "same", data, minio.PutObjectOptions{})
	}
	put(t, c, "second", data, minio.PutObjectOptions{})
	put(t, c, "third", data[:1<<19], minio.PutObjectOptions{})
	for range 3 {
		_, err := c.Client.PutObject(t.Context(), "bkt", "big", bytes.NewReader(payload(3<<20)), 3<<20, minio.PutObjectOptions{})
		wantCode(t, err, http.StatusInsufficientStorage, "InsufficientStorage")
		if !strings.Contains(fmt.Sprint(err), "memory limit of 4 MiB") {
			t.Errorf("the error says %v", err)
		}
	}
	var full *fullError
	if err := <-calls; !errors.As(err, &full) || full.Limit != 4<<20 {
		t.Errorf("OnFull got %v", err)
	}
	time.Sleep(20 * time.Millisecond)
	if len(calls) != 0 {
		t.Error("OnFull was called again")
	}
	for _, key := range []string{"same", "second", "third"} {
		c.RemoveObject(t.Context(), "bkt", key, minio.RemoveObjectOptions{})
	}
	if e.mem.used.Load() != 0 {
		t.Errorf("%d bytes are accounted for nothing", e.mem.used.Load())
	}
	put(t, c, "big", payload(3<<20), minio.PutObjectOptions{})
}

func TestRefusals(t *testing.T) {
	_, c := start(t, EmbeddedOptions{})
	put(t, c, "k", []byte("kept"), minio.PutObjectOptions{})
	ctx := t.Context()
	base := "http://" + c.EndpointURL().Host + "/bkt"
	for _, tc := range []struct{ method, target, header, value string }{
		{"PUT", "?object-lock", "", ""},
		{"PUT", "/k?legal-hold", "", ""},
		{"PUT", "/k?versionId=abc", "", ""},
		{"GET", "/k", "X-Amz-Tagging", "a=b"},
		{"DELETE", "/k", "X-Amz-Copy-Source", "/bkt/other"},
		{"POST", "/k?select&select-type=2", "", ""},
		{"POST", "/k?restore", "", ""},
		{"POST", "/k?fan-out", "", ""},
		{"POST", "", "", ""},
		{"PUT", "/k", "X-Amz-Server-Side-Encryption", "AES256"},
		{"PUT", "/k", "X-Amz-Server-Side-Encryption-Customer-Key", "x"},
		{"GET", "/k", "X-Amz-Server-Side-Encryption-Customer-Algorithm", "AES256"},
		{"PUT", "/k", "X-Amz-Object-Lock-Mode", "GOVERNANCE"},
		{"PUT", "/k", "X-Amz-Meta-Snowball-Auto-Extract", "true"},
		{"PUT", "/k", "X-Amz-Storage-Class", "GLACIER"},
		{"GET", "/k", "X-Minio-Extract", "true"},
		{"DELETE", "/k", "X-Minio-Force-Delete", "true"},
		{"GET", "/k", "If-Unmodified-Since", "Mon, 02 Jan 2006 15:04:05 GMT"},
	} {
		t.Run(strings.TrimSpace(tc.method+" "+tc.target+" "+tc.header), func(t *testing.T) {
			if status := request(t, tc.method, base+tc.target, tc.header, tc.value); status != http.StatusNotImplemented {
				t.Errorf("status %d", status)
			}
		})
	}
	if got := get(t, c, "k", minio.GetObjectOptions{}); string(got) != "kept" {
		t.Errorf("the object is %q now", got)
	}
	var match minio.GetObjectOptions
	match.SetMatchETag("0123")
	_, _, _, err := c.GetObject(ctx, "bkt", "k", match)
	wantCode(t, err, http.StatusPreconditionFailed, "PreconditionFailed")
}

func request(t *testing.T, method, url, header, value string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("body"))
	check.OK(t, err)
	if header != "" {
		req.Header.Set(header, value)
	}
	resp, err := http.DefaultClient.Do(req)
	check.OK(t, err)
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode
}

func TestWrongChecksum(t *testing.T) {
	_, c := start(t, EmbeddedOptions{})
	url := "http://" + c.EndpointURL().Host + "/bkt/k"
	if status := request(t, "PUT", url, "X-Amz-Checksum-Crc32", "AAAAAA=="); status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	if status := request(t, "PUT", url, "Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="); status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	if status := request(t, "GET", url, "", ""); status != http.StatusNotFound {
		t.Errorf("the damaged upload is there: status %d", status)
	}
}

func TestConditionalPut(t *testing.T) {
	_, c := start(t, EmbeddedOptions{})
	url := "http://" + c.EndpointURL().Host + "/bkt/k"
	if status := request(t, "PUT", url, "If-None-Match", "*"); status != 200 {
		t.Errorf("first: status %d", status)
	}
	if status := request(t, "PUT", url, "If-None-Match", "*"); status != http.StatusPreconditionFailed {
		t.Errorf("second: status %d", status)
	}
}

// A swapper replaces the object while a download of it is answered: when the first header is set.
type swapper struct {
	*httptest.ResponseRecorder
	swap func()
}

func (s *swapper) Header() http.Header {
	if swap := s.swap; swap != nil {
		s.swap = nil
		swap()
	}
	return s.ResponseRecorder.Header()
}

// A download with If-Match never has another version, even if the object is replaced after the condition was compared.
func TestConditionalGet(t *testing.T) {
	for _, method := range []string{"GET", "HEAD"} {
		for _, span := range []string{"", "bytes=2-3", "bytes=40-49"} {
			for _, replaced := range []bool{false, true} {
				t.Run(fmt.Sprint(method, " ", span, " replaced=", replaced), func(t *testing.T) {
					e, c := start(t, EmbeddedOptions{})
					etag := put(t, c, "k", payload(50), minio.PutObjectOptions{UserMetadata: map[string]string{"a": "b"}}).ETag
					r := httptest.NewRequest(method, "/bkt/k", nil)
					r.Header.Set("If-Match", `"`+etag+`"`)
					if span != "" {
						r.Header.Set("Range", span)
					}
					w := &swapper{ResponseRecorder: httptest.NewRecorder()}
					if replaced {
						w.swap = func() { put(t, c, "k", []byte("another"), minio.PutObjectOptions{}) }
					}
					e.ServeHTTP(w, r)
					want := http.StatusOK
					switch {
					case replaced:
						want = http.StatusPreconditionFailed
					case span != "":
						want = http.StatusPartialContent
					}
					if w.Code != want || strings.Contains(w.Body.String(), "PreconditionFailed") != (replaced && method == "GET") {
						t.Errorf("status %d, want %d; body %q", w.Code, want, w.Body)
					}
					if length := w.Header().Get("Content-Length"); replaced && length != "" {
						t.Errorf("the refusal has the Content-Length of the object: %s", length)
					}
				})
			}
		}
	}
}

// If-Match of a download of an old version is about that version.
func TestConditionalGetOfVersion(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	check.OK(t, c.EnableVersioning(t.Context(), "bkt"))
	old := put(t, c, "k", []byte("old"), minio.PutObjectOptions{})
	put(t, c, "k", []byte("new"), minio.PutObjectOptions{})
	url := "http://" + e.Addr() + "/bkt/k?versionId=" + old.VersionID
	if status := request(t, "GET", url, "If-Match", old.ETag); status != http.StatusOK {
		t.Errorf("its own ETag: status %d", status)
	}
	if status := request(t, "GET", url, "If-Match", "other"); status != http.StatusPreconditionFailed {
		t.Errorf("another ETag: status %d", status)
	}
}

// Sixteen clients write, read, list and delete concurrently. Each key's payload contains its
// generation, so that a torn read would be noticed.
func TestConcurrency(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 60 {
				if err := concurrentStep(t.Context(), c, w, i); err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for info := range c.Client.ListObjects(t.Context(), "bkt", minio.ListObjectsOptions{Recursive: true}) {
		c.RemoveObject(t.Context(), "bkt", info.Key, minio.RemoveObjectOptions{})
	}
	if e.mem.used.Load() != 0 {
		t.Errorf("%d bytes are accounted for nothing", e.mem.used.Load())
	}
}

func concurrentStep(ctx context.Context, c *minio.Core, w, i int) error {
	key := "shared" + strconv.Itoa(i%4)
	data := bytes.Repeat([]byte{byte(w)}, 1000+w)
	if _, err := c.Client.PutObject(ctx, "bkt", key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{}); err != nil {
		return err
	}
	body, _, _, err := c.GetObject(ctx, "bkt", key, minio.GetObjectOptions{})
	if err == nil {
		got, err := io.ReadAll(body)
		body.Close()
		if err != nil || len(got) < 1000 || !bytes.Equal(got, bytes.Repeat(got[:1], 1000+int(got[0]))) {
			return fmt.Errorf("torn read of %d bytes, %v", len(got), err)
		}
	} else if minio.ToErrorResponse(err).Code != "NoSuchKey" {
		return err
	}
	if i%7 == 0 {
		return c.RemoveObject(ctx, "bkt", key, minio.RemoveObjectOptions{})
	}
	for info := range c.Client.ListObjects(ctx, "bkt", minio.ListObjectsOptions{MaxKeys: 2}) {
		if info.Err != nil {
			return info.Err
		}
	}
	return nil
}
