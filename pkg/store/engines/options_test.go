package engines

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/s3"
	"warp/pkg/store/s3provider"
)

// A wire is a store that records requests, and answers as if it had every object.
type wire struct {
	*httptest.Server
	mu    sync.Mutex
	asked []ask
	conns map[string]bool // remote addresses
}

// An ask is a received request with its trailers.
type ask struct {
	method, path, query, host, proto, remote string
	header, trailer                          http.Header
	body                                     []byte
}

func newWire(t *testing.T, tune func(*httptest.Server)) *wire {
	t.Helper()
	w := &wire{conns: map[string]bool{}}
	w.Server = httptest.NewUnstartedServer(w)
	if tune != nil {
		tune(w.Server)
	}
	if w.Server.TLS != nil {
		w.StartTLS()
	} else {
		w.Start()
	}
	t.Cleanup(w.Close)
	return w
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	w.asked = append(w.asked, ask{r.Method, r.URL.Path, r.URL.RawQuery, r.Host, r.Proto, r.RemoteAddr, r.Header.Clone(), r.Trailer.Clone(), body})
	w.conns[r.RemoteAddr] = true
	w.mu.Unlock()
	h := rw.Header()
	h.Set("ETag", `"d41d8cd98f00b204e9800998ecf8427e"`)
	h.Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
	switch {
	case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
		io.WriteString(rw, `<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPost:
		io.WriteString(rw, `<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>k</Key><ETag>"x-2"</ETag></CompleteMultipartUploadResult>`)
	case r.Header.Get("X-Amz-Copy-Source") != "":
		io.WriteString(rw, `<CopyObjectResult><ETag>"x"</ETag></CopyObjectResult>`)
	case r.Method == http.MethodGet:
		io.WriteString(rw, "hello")
	case r.Method == http.MethodHead:
		h.Set("Content-Length", "5")
	}
}

// find returns the only request of a method whose query contains the word.
func (w *wire) find(t *testing.T, method, word string) ask {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.asked, func(a ask) bool { return a.method == method && strings.Contains(a.query, word) })
	if i < 0 {
		t.Fatalf("no %s with %q in its query was sent: %v", method, word, w.asked)
	}
	return w.asked[i]
}

func (w *wire) client(t *testing.T, cfg store.Config) *store.Client {
	t.Helper()
	if cfg.Hosts == nil {
		cfg.Hosts = []store.Address{{Name: w.Listener.Addr().String()}}
	}
	cfg.Region, cfg.TLS, cfg.Insecure = "us-east-1", w.Server.TLS != nil, w.Server.TLS != nil
	if cfg.Credentials == nil {
		cfg.Credentials = store.Keys{AccessKey: "key", SecretKey: "secret"}
	}
	c, err := New(cfg)
	check.OK(t, err)
	return c
}

func send(t *testing.T, c *store.Client, key string, payload []byte) {
	t.Helper()
	h := c.Acquire()
	defer c.Release(h, nil)
	tr := store.NewTrace(time.Now())
	put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: key}, Body: bytes.NewReader(payload), Size: int64(len(payload)), ContentType: "text/plain"}
	if _, err := h.Put(context.Background(), put, tr); err != nil {
		t.Fatalf("put: %v", err)
	}
}

// everything sends one request of each kind that options affect.
func everything(t *testing.T, c *store.Client) {
	t.Helper()
	ctx, h, ref := context.Background(), c.Acquire(), store.Ref{Bucket: "bucket", Key: "a/key"}
	defer c.Release(h, nil)
	tr := store.NewTrace(time.Now())
	payload := []byte("hello")
	send(t, c, ref.Key, payload)
	_, err := h.Get(ctx, store.Get{Ref: ref}, tr)
	check.OK(t, err)
	_, err = h.Stat(ctx, ref, tr)
	check.OK(t, err)
	_, err = h.Copy(ctx, store.Copy{From: ref, To: store.Ref{Bucket: "bucket", Key: "copy"}}, tr)
	check.OK(t, err)
	u, err := h.StartUpload(ctx, store.Put{Ref: ref}, tr)
	check.OK(t, err)
	p, err := h.PutPart(ctx, store.PutPart{Upload: u, Number: 1, Body: bytes.NewReader(payload), Size: 5}, tr)
	check.OK(t, err)
	q, err := h.CopyPart(ctx, store.CopyPart{Upload: u, Number: 2, From: ref, Length: 5}, tr)
	check.OK(t, err)
	_, err = h.CompleteUpload(ctx, u, []store.Part{p, q}, tr)
	check.OK(t, err)
}

// engines runs a test with the default engine and with minio-go.
func engines(t *testing.T, test func(t *testing.T, engine string)) {
	for _, engine := range []string{s3provider.Auto, s3provider.Minio} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, engine)
		})
	}
}

func wants(t *testing.T, a ask, headers ...string) {
	t.Helper()
	for i := 0; i < len(headers); i += 2 {
		if got := a.header.Get(headers[i]); got != headers[i+1] {
			t.Errorf("%s %s?%s: %s is %q, want %q", a.method, a.path, a.query, headers[i], got, headers[i+1])
		}
	}
}

func tlsServer(s *httptest.Server) { s.TLS = &tls.Config{} }

func TestEncryptionOnTheWire(t *testing.T) {
	t.Parallel()
	const customer, source = "X-Amz-Server-Side-Encryption-Customer-", "X-Amz-Copy-Source-Server-Side-Encryption-Customer-"
	engines(t, func(t *testing.T, engine string) {
		key := [32]byte{1, 2, 3}
		sum := md5.Sum(key[:])
		secret := []string{customer + "Algorithm", "AES256", customer + "Key", base64.StdEncoding.EncodeToString(key[:]),
			customer + "Key-Md5", base64.StdEncoding.EncodeToString(sum[:])}
		w := newWire(t, tlsServer)
		everything(t, w.client(t, store.Config{Engine: engine, Options: store.Options{Encryption: store.Encryption{Kind: store.SSEC, Key: key}}}))
		for _, a := range w.asked {
			wants(t, a, secret...)
			copied := a.header.Get("X-Amz-Copy-Source") != ""
			if has := a.header.Get(source+"Key") != ""; has != copied {
				t.Errorf("%s %s: key of the source: %v, want %v", a.method, a.path, has, copied)
			}
		}
		for kind, name := range map[store.EncryptionKind]string{store.SSES3: "AES256", store.SSEKMS: "aws:kms"} {
			w := newWire(t, nil)
			everything(t, w.client(t, store.Config{Engine: engine, Options: store.Options{Encryption: store.Encryption{Kind: kind, KeyID: "id"}}}))
			for _, a := range w.asked {
				want, id := "", "" // the store knows the key for reads and for the parts of an upload
				if a.method == "PUT" && !strings.Contains(a.query, "partNumber") || strings.Contains(a.query, "uploads") {
					want = name
				}
				if want != "" && kind == store.SSEKMS {
					id = "id"
				}
				wants(t, a, "X-Amz-Server-Side-Encryption", want, "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id", id)
			}
		}
	})
}

func TestAttributesOnTheWire(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		w := newWire(t, nil)
		c := w.client(t, store.Config{Engine: engine, Options: store.Options{
			StorageClass: "STANDARD_IA",
			Metadata:     []store.Attribute{{Key: "color", Value: "dark blue"}, {Key: "noise", Random: 33}},
			Tags:         []store.Attribute{{Key: "a b", Value: "x+y/z"}, {Key: "n", Random: 12}},
		}})
		send(t, c, "one", []byte("x"))
		send(t, c, "two", nil)
		tr := store.NewTrace(time.Now())
		_, err := c.Acquire().StartUpload(context.Background(), store.Put{Ref: store.Ref{Bucket: "bucket", Key: "three"}}, tr)
		check.OK(t, err)
		seen := map[string]bool{}
		for _, a := range w.asked {
			wants(t, a, "X-Amz-Storage-Class", "STANDARD_IA", "X-Amz-Meta-Color", "dark blue")
			noise, tags := a.header.Get("X-Amz-Meta-Noise"), a.header.Get("X-Amz-Tagging")
			if len(noise) != 33 || seen[noise] {
				t.Errorf("metadata is %q, want 33 characters that no other object has", noise)
			}
			seen[noise] = true
			fixed, n, _ := strings.Cut(tags, "&n=")
			if fixed != "a+b=x%2By%2Fz" && fixed != "a%20b=x%2By%2Fz" || len(n) != 12 {
				t.Errorf("tags are %q", tags)
			}
		}
		if len(seen) != 3 {
			t.Errorf("%d requests, want 3", len(seen))
		}
	})
}

func TestContentMD5OnTheWire(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		w := newWire(t, nil)
		c := w.client(t, store.Config{Engine: engine, Options: store.Options{MD5: true}})
		for _, size := range []int{0, 5, 200 << 10} {
			payload := bytes.Repeat([]byte("x"), size)
			send(t, c, fmt.Sprint(size), payload)
			sum := md5.Sum(payload)
			wants(t, w.asked[len(w.asked)-1], "Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
		}
		everything(t, c)
		sum := md5.Sum([]byte("hello"))
		wants(t, w.find(t, "PUT", "partNumber=1"), "Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
	})
}

// carried returns the checksum in the head of a request or after its payload.
func (a *ask) carried(name string) string {
	if v := a.header.Get(name); v != "" {
		return v
	}
	if v := a.trailer.Get(name); v != "" {
		return v
	}
	// Signed chunks are part of the body, and so are the trailers after them.
	for line := range strings.SplitSeq(string(a.body), "\r\n") {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(k, name) {
			return strings.TrimSpace(v)
		}
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && strings.EqualFold(strings.TrimSpace(k), name) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func TestChecksumsOnTheWire(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		for _, sum := range store.Checksums() {
			for _, secure := range []bool{false, true} {
				var tune func(*httptest.Server)
				if secure {
					tune = tlsServer
				}
				w := newWire(t, tune)
				c := w.client(t, store.Config{Engine: engine, Options: store.Options{Checksum: sum}})
				kind := s3.ChecksumType(sum)
				for _, size := range []int{0, 5, 200 << 10} {
					payload := bytes.Repeat([]byte("x"), size)
					send(t, c, "k", payload)
					if got, want := w.asked[len(w.asked)-1].carried(kind.Key()), kind.EncodeToString(payload); got != want {
						t.Errorf("%s of %d bytes, TLS %v: %q, want %q", sum, size, secure, got, want)
					}
				}
				everything(t, c)
				part := w.find(t, "PUT", "partNumber=1")
				if got, want := part.carried(kind.Key()), kind.EncodeToString([]byte("hello")); got != want {
					t.Errorf("%s of a part, TLS %v: %q, want %q", sum, secure, got, want)
				}
				wholes := ""
				if kind.FullObjectRequested() {
					wholes = "FULL_OBJECT"
				}
				wants(t, w.find(t, "POST", "uploads"), "X-Amz-Checksum-Algorithm", kind.String(), "X-Amz-Checksum-Type", wholes)
				wants(t, w.find(t, "POST", "uploadId"), "X-Amz-Checksum-Type", wholes)
			}
		}
	})
}

// The table of checksums must not contain the same mistake as the code under test.
func TestChecksumIsTheStandardOne(t *testing.T) {
	t.Parallel()
	w := newWire(t, nil)
	send(t, w.client(t, store.Config{Options: store.Options{Checksum: store.ChecksumCRC32}}), "k", []byte("hello"))
	n := crc32.ChecksumIEEE([]byte("hello"))
	want := base64.StdEncoding.EncodeToString([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	if got := w.asked[0].carried("x-amz-checksum-crc32"); got != want {
		t.Errorf("CRC32 is %q, want %q", got, want)
	}
}

func TestPartsOnTheWire(t *testing.T) {
	t.Parallel()
	payload := make([]byte, 17<<20)
	tests := map[string]struct {
		opts  store.Options
		parts int // 0 = one request
	}{
		"as it comes":        {store.Options{}, 2},
		"in one request":     {store.Options{DisableMultipart: true}, 0},
		"parts of 5 MiB":     {store.Options{PartSize: 5 << 20}, 4},
		"parts of 17 MiB":    {store.Options{PartSize: 17 << 20}, 0},
		"parts, Content-MD5": {store.Options{PartSize: 8 << 20, MD5: true}, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engines(t, func(t *testing.T, engine string) {
				w := newWire(t, nil)
				c := w.client(t, store.Config{Engine: engine, Options: test.opts, UnsignedPayload: true})
				send(t, c, "large", payload)
				parts := 0
				for _, a := range w.asked {
					if strings.Contains(a.query, "partNumber") {
						parts++
						if test.opts.MD5 && a.header.Get("Content-Md5") == "" {
							t.Error("a part has no Content-MD5")
						}
					}
				}
				if parts != test.parts {
					t.Errorf("%d parts, want %d", parts, test.parts)
				}
			})
		})
	}
}

func TestConnectionOptions(t *testing.T) {
	t.Parallel()
	stat := func(t *testing.T, c *store.Client) {
		t.Helper()
		for range 4 {
			h := c.Acquire()
			_, err := h.Stat(context.Background(), store.Ref{Bucket: "bucket", Key: "k"}, store.NewTrace(time.Now()))
			c.Release(h, nil)
			check.OK(t, err)
		}
	}
	engines(t, func(t *testing.T, engine string) {
		w := newWire(t, nil)
		stat(t, w.client(t, store.Config{Engine: engine}))
		if len(w.conns) != 1 {
			t.Errorf("4 requests took %d connections, want 1", len(w.conns))
		}
		w = newWire(t, nil)
		stat(t, w.client(t, store.Config{Engine: engine, Options: store.Options{NoKeepAlive: true}}))
		if len(w.conns) != 4 {
			t.Errorf("without keep-alive 4 requests took %d connections", len(w.conns))
		}
		w = newWire(t, nil)
		sources := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}
		if l, err := net.Listen("tcp", "127.0.0.2:0"); err != nil {
			sources = sources[:1] // not every system uses all of 127.0.0.0/8
		} else {
			l.Close()
		}
		stat(t, w.client(t, store.Config{Engine: engine, Options: store.Options{NoKeepAlive: true, SourceIPs: sources}}))
		from := map[string]int{}
		for _, a := range w.asked {
			host, _, _ := net.SplitHostPort(a.remote)
			from[host]++
		}
		for _, s := range sources {
			if from[s.String()] != 4/len(sources) {
				t.Errorf("requests came from %v, want as many from each of %v", from, sources)
			}
		}
		w = newWire(t, nil)
		_, port, _ := net.SplitHostPort(w.Listener.Addr().String())
		stat(t, w.client(t, store.Config{Engine: engine, Hosts: []store.Address{{Name: "s3.test:" + port, Dial: w.Listener.Addr().String()}},
			Options: store.Options{Lookup: store.LookupHost}}))
		if a := w.asked[0]; a.host != "bucket.s3.test:"+port || a.path != "/k" {
			t.Errorf("host %s, path %s, want the bucket in the host", a.host, a.path)
		}
	})
}

func TestHTTP2(t *testing.T) {
	t.Parallel()
	w := newWire(t, func(s *httptest.Server) { s.TLS, s.EnableHTTP2 = &tls.Config{}, true })
	c := w.client(t, store.Config{Options: store.Options{HTTP2: true}})
	everything(t, c)
	for _, a := range w.asked {
		if a.proto != "HTTP/2.0" {
			t.Errorf("%s %s went by %s", a.method, a.path, a.proto)
		}
	}
	plain := newWire(t, tlsServer)
	c = plain.client(t, store.Config{Options: store.Options{HTTP2: true}})
	_, err := c.BucketExists(context.Background(), "bucket")
	if store.CodeOf(err) != store.CodeNoHTTP2 {
		t.Errorf("a store without HTTP/2: %v", err)
	}
}

func TestTimeoutOption(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		hold := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/bucket/stalls" {
				rw.Header().Set("ETag", `"x"`)
				rw.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
				rw.Header().Set("Content-Length", "100")
				io.WriteString(rw, "ten bytes.")
				http.NewResponseController(rw).Flush()
			}
			<-hold
		}))
		defer srv.Close()
		defer close(hold)
		c, err := New(store.Config{Engine: engine, Region: "us-east-1", Credentials: store.Keys{AccessKey: "k", SecretKey: "s"},
			Hosts: []store.Address{{Name: srv.Listener.Addr().String()}}, Options: store.Options{Timeout: 2 * time.Second}})
		check.OK(t, err)
		for key, code := range map[string]string{"silent": store.CodeAnswerTimeout, "stalls": store.CodeStallTimeout} {
			began := time.Now()
			_, err = c.Acquire().Get(context.Background(), store.Get{Ref: store.Ref{Bucket: "bucket", Key: key}}, store.NewTrace(time.Now()))
			if store.CodeOf(err) != code || time.Since(began) > time.Minute {
				t.Errorf("%s: %v after %v, want %s", key, err, time.Since(began), code)
			}
		}
	})
}

func TestIdentitiesTakeTurns(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		w := newWire(t, nil)
		c := w.client(t, store.Config{Engine: engine, Credentials: store.Keys{AccessKey: "anna", SecretKey: "s1"},
			Others: []store.Credentials{store.Keys{AccessKey: "bert", SecretKey: "s2"}, store.Keys{AccessKey: "carl", SecretKey: "s3", SessionToken: "token"}}})
		for range 9 {
			h := c.Acquire()
			_, err := h.Stat(context.Background(), store.Ref{Bucket: "bucket", Key: "k"}, store.NewTrace(time.Now()))
			c.Release(h, nil)
			check.OK(t, err)
		}
		seen := map[string]int{}
		for _, a := range w.asked {
			_, who, _ := strings.Cut(a.header.Get("Authorization"), "Credential=")
			who, _, _ = strings.Cut(who, "/")
			seen[who+a.header.Get("X-Amz-Security-Token")]++
		}
		if seen["anna"] != 3 || seen["bert"] != 3 || seen["carltoken"] != 3 {
			t.Errorf("requests by identity: %v, want 3 each", seen)
		}
	})
}

func TestOptionsThatContradict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts store.Options
		word string
	}{
		"SSE-C without TLS":        {store.Options{Encryption: store.Encryption{Kind: store.SSEC}}, "TLS"},
		"SSE-KMS without a key":    {store.Options{Encryption: store.Encryption{Kind: store.SSEKMS}}, "id"},
		"checksum and MD5":         {store.Options{Checksum: store.ChecksumCRC32, MD5: true}, "Content-MD5"},
		"parts without parts":      {store.Options{DisableMultipart: true, PartSize: 5 << 20}, "part size"},
		"small parts":              {store.Options{PartSize: 1 << 20}, "5 MiB"},
		"certificate, no key":      {store.Options{ClientCert: "x"}, "key"},
		"HTTP/2 without TLS":       {store.Options{HTTP2: true}, "TLS"},
		"two tags of one name":     {store.Options{Tags: []store.Attribute{{Key: "a"}, {Key: "a"}}}, "twice"},
		"tag with a bad character": {store.Options{Tags: []store.Attribute{{Key: "a", Value: "?"}}}, "tag"},
		"metadata with a space":    {store.Options{Metadata: []store.Attribute{{Key: "a b"}}}, "metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(store.Config{Hosts: []store.Address{{Name: "127.0.0.1:1"}}, Options: test.opts})
			if err == nil || !strings.Contains(err.Error(), test.word) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want one line with %q", err, test.word)
			}
		})
	}
}
