package engines

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// echo answers every request with the same bytes without allocating, so that only the client's
// allocations are counted.
func echo(t testing.TB, answer string) (addr string) {
	t.Helper()
	return oddStore(t, func(c *net.TCPConn, _ *bufio.Reader) {
		in, have, out := make([]byte, 256<<10), 0, []byte(answer)
		for {
			n, err := c.Read(in[have:])
			if err != nil {
				return
			}
			if have += n; have < requestLength(in[:have]) {
				continue
			}
			have = 0
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	})
}

var headEnd, lengthLine = []byte("\r\n\r\n"), []byte("Content-Length: ")

func requestLength(b []byte) int {
	end := bytes.Index(b, headEnd)
	if end < 0 {
		return len(b) + 1
	}
	length := 0
	if at := bytes.Index(b[:end], lengthLine); at >= 0 {
		for at += len(lengthLine); b[at] != '\r'; at++ {
			length = 10*length + int(b[at]-'0')
		}
	}
	return end + len(headEnd) + length
}

func skipUnderRace(t *testing.T) {
	t.Helper()
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector makes garbage of its own; make test runs this again without it")
	}
}

type countingWriter struct{ n int }

func (w *countingWriter) Write(b []byte) (int, error) { w.n += len(b); return len(b), nil }

// A frugal request has an answer and a max number of allocations.
type frugal struct {
	answer  string
	limit   float64
	do      func(h *store.Host, tr *store.Trace) error
	options store.Options
}

func frugalRequests() map[string]frugal {
	const head = "HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\nLast-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\nContent-Length: "
	ctx, ref := context.Background(), store.Ref{Bucket: "bucket", Key: "some/key"}
	batch, results := make([]store.Ref, 100), "<DeleteResult>"
	for i := range batch {
		batch[i] = store.Ref{Bucket: "bucket", Key: "some/key&" + strconv.Itoa(i)}
		results += "<Deleted><Key>some/key&amp;" + strconv.Itoa(i) + "</Key></Deleted>"
	}
	results += "</DeleteResult>"
	page := "<ListBucketResult>" + strings.Repeat("<Contents><Key>some/key</Key><LastModified>2026-11-21T09:25:33.000Z</LastModified><ETag>&#34;abc&#34;</ETag><Size>1</Size></Contents>", 100) + "</ListBucketResult>"
	body, into := payload(200<<10), &countingWriter{}
	headers := []store.Header{{Name: "x-amz-meta-b", Value: "c"}, {Name: "x-amz-meta-a", Value: "b"}, {Name: "cache-control", Value: "no-store"}}
	one := batch[:1]
	return map[string]frugal{
		"DELETE": {"HTTP/1.1 204 No Content\r\n\r\n", 0, func(h *store.Host, tr *store.Trace) error { return h.Delete(ctx, one, tr) }, store.Options{}},
		"part": {head + "0\r\n\r\n", 0, func(h *store.Host, tr *store.Trace) error {
			_, err := h.PutPart(ctx, store.PutPart{Upload: store.Upload{Ref: ref, ID: "id"}, Number: 3, Body: body, Size: body.Size()}, tr)
			return err
		}, store.Options{}},
		"PUT with headers": {head + "0\r\n\r\n", 0, func(h *store.Host, tr *store.Trace) error {
			_, err := h.Put(ctx, store.Put{Ref: ref, Body: body, Size: 1000, Headers: headers}, tr)
			return err
		}, store.Options{}},
		"GET into": {head + "5\r\n\r\nhello", 0, func(h *store.Host, tr *store.Trace) error {
			_, err := h.Get(ctx, store.Get{Ref: ref, Into: into, Headers: headers, Part: 1}, tr)
			return err
		}, store.Options{}},
		"two buckets": {head + "0\r\n\r\n", 0, func(h *store.Host, tr *store.Trace) error {
			other := ref
			other.Bucket = "another"
			_, err := h.Stat(ctx, ref, tr)
			if err == nil {
				_, err = h.Stat(ctx, other, tr)
			}
			return err
		}, store.Options{}},
		// Strings such as names and codes, but not one for each object.
		"batch": {fmt.Sprintf("%s%d\r\n\r\n%s", head, len(results), results), 4, func(h *store.Host, tr *store.Trace) error { return h.Delete(ctx, batch, tr) }, store.Options{}},
		"list": {fmt.Sprintf("%s%d\r\n\r\n%s", head, len(page), page), 4, func(h *store.Host, tr *store.Trace) error {
			return h.List(ctx, store.List{Bucket: "bucket"}, func(store.Object) bool { return true }, tr)
		}, store.Options{}},
		"PUT with all options": {head + "0\r\n\r\n", 0, func(h *store.Host, tr *store.Trace) error {
			_, err := h.Put(ctx, store.Put{Ref: ref, Body: body, Size: body.Size()}, tr)
			return err
		}, store.Options{
			Encryption: store.Encryption{Kind: store.SSES3}, StorageClass: "X", Checksum: store.ChecksumCRC32C,
			Metadata: []store.Attribute{{Key: "a", Random: 10}}, Tags: []store.Attribute{{Key: "b c", Random: 10}, {Key: "d", Value: "e f"}},
		}},
		"PUT with MD5": {head + "0\r\n\r\n", 0, func(h *store.Host, tr *store.Trace) error {
			_, err := h.Put(ctx, store.Put{Ref: ref, Body: body, Size: body.Size()}, tr)
			return err
		}, store.Options{MD5: true}},
	}
}

// Requests of the lean engine do not allocate, whatever they carry.
func TestLeanMakesNoGarbage(t *testing.T) {
	skipUnderRace(t)
	for name, test := range frugalRequests() {
		t.Run(name, func(t *testing.T) {
			h := oneHost(t, store.Config{Engine: "lean", Options: test.options, Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}, echo(t, test.answer))
			allocates(t, h, test.do, test.limit)
		})
	}
}

// allocates checks that a request makes no more than limit allocations once its memory is in place.
func allocates(t *testing.T, h *store.Host, do func(h *store.Host, tr *store.Trace) error, limit float64) {
	t.Helper()
	tr := store.NewTrace(time.Now())
	step := func() {
		tr.Reset(time.Now())
		tr.Expect("0123456789abcdef0123456789abcdef")
		check.OK(t, do(h, tr))
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n > limit {
		t.Errorf("%v allocations per request, want %v", n, limit)
	}
}

// Frequent requests to Google Cloud Storage do not allocate either, although their answers are
// JSON.
func TestGCSMakesNoGarbage(t *testing.T) {
	skipUnderRace(t)
	ctx, ref, body := context.Background(), store.Ref{Bucket: "bucket", Key: "some/key"}, payload(1<<10)
	one := []store.Ref{ref}
	const object = `{"generation":"1763889600000000","size":"1024","md5Hash":"ASNFZ4mrze8BI0VniavN7w==","crc32c":"AAAAAA==","updated":"2026-11-21T09:25:33.123Z"}`
	answer := func(head, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	for name, test := range map[string]frugal{
		"STAT": {answer: answer("", object), do: func(h *store.Host, tr *store.Trace) error {
			_, err := h.Stat(ctx, ref, tr)
			return err
		}},
		"PUT": {answer: answer("", object), do: func(h *store.Host, tr *store.Trace) error {
			_, err := h.Put(ctx, store.Put{Ref: ref, Body: body, Size: body.Size()}, tr)
			return err
		}},
		"GET": {answer: answer("X-Goog-Hash: crc32c=AAAAAA==\r\nX-Goog-Hash: md5=ASNFZ4mrze8BI0VniavN7w==\r\n", "hello"), do: func(h *store.Host, tr *store.Trace) error {
			_, err := h.Get(ctx, store.Get{Ref: ref}, tr)
			return err
		}},
		"DELETE": {answer: "HTTP/1.1 204 No Content\r\n\r\n", do: func(h *store.Host, tr *store.Trace) error {
			return h.Delete(ctx, one, tr)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := oneHost(t, store.Config{Engine: "gcs", Provider: "gcs", Bearer: store.Bearer{Token: "token"}}, echo(t, test.answer))
			allocates(t, h, test.do, test.limit)
		})
	}
}
