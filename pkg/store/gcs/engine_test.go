package gcs

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/pkg/store"
)

// opened contains the engine and admin of a stand-in.
type opened struct {
	*standIn
	engine *Engine
	admin  *Admin
}

func open(t *testing.T, s *standIn, cfg store.Config) *opened {
	t.Helper()
	return openAt(t, s, s.addr(), cfg)
}

func openAt(t *testing.T, s *standIn, name string, cfg store.Config) *opened {
	t.Helper()
	cfg.AppVersion, cfg.Concurrency = "1", 1
	addr := store.Address{Name: name}
	driver, err := Open(&cfg)
	check.OK(t, err)
	e, err := driver.Engine(&cfg, addr, new(store.Counters))
	check.OK(t, err)
	admin, err := driver.Admin(&cfg, addr)
	check.OK(t, err)
	t.Cleanup(func() { e.Close(); admin.Close() })
	return &opened{s, e.(*Engine), admin.(*Admin)}
}

func withToken(t *testing.T, o store.Options) *opened {
	t.Helper()
	return withTokenThrough(t, o, func(addr string) string { return addr })
}

// withTokenThrough opens the stand-in at the address that through returns.
func withTokenThrough(t *testing.T, o store.Options, through func(addr string) string) *opened {
	t.Helper()
	s := newStandIn(t)
	s.tokens["secret"] = time.Now().Add(time.Hour)
	return openAt(t, s, through(s.addr()), store.Config{Bearer: store.Bearer{Token: "secret"}, Options: o})
}

// The engine passes the suite with both ways to send requests, and sends only documented requests.
func TestSuite(t *testing.T) {
	t.Parallel()
	t.Run("lean", func(t *testing.T) { t.Parallel(); enginetest.Run(t, withToken(t, store.Options{}).engine) })
	t.Run("net/http", func(t *testing.T) { t.Parallel(); enginetest.Run(t, withToken(t, store.Options{}).admin) })
	t.Run("described", func(t *testing.T) {
		t.Parallel()
		enginetest.Run(t, withToken(t, store.Options{MD5: true, Checksum: store.ChecksumCRC32C, StorageClass: "NEARLINE",
			Metadata: []store.Attribute{{Key: "Color", Value: "red"}}}).engine)
	})
}

// Both ways pass it on odd stores, too.
func TestOddities(t *testing.T) {
	t.Parallel()
	enginetest.WithOddities(t, func(t *testing.T, through func(string) string, lacks enginetest.Lacks) {
		enginetest.RunWithout(t, withTokenThrough(t, store.Options{}, through).engine, lacks)
	})
	enginetest.WithOddities(t, func(t *testing.T, through func(string) string, lacks enginetest.Lacks) {
		enginetest.RunWithout(t, withTokenThrough(t, store.Options{}, through).admin, lacks)
	})
}

func (o *opened) put(t *testing.T, key string, data []byte) (store.Object, *store.Trace) {
	t.Helper()
	tr := store.NewTrace(time.Now())
	made, err := o.engine.Put(t.Context(), store.Put{Ref: ref(key), Body: bytes.NewReader(data), Size: int64(len(data))}, tr)
	check.OK(t, err)
	return made, tr
}

func ref(key string) store.Ref { return store.Ref{Bucket: bucketName, Key: key} }

func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// A large upload is resumable: it is sent in chunks, from the position that the store has reached.
func TestResumableUploads(t *testing.T) {
	t.Parallel()
	o := withToken(t, store.Options{PartSize: 5 << 20})
	data := content(12<<20 + 5)
	for _, taken := range []int64{0, 1 << 20} {
		o.taken, o.log = taken, nil
		made, tr := o.put(t, "large", data)
		if made.Size != int64(len(data)) || !bytes.Equal(o.find("large", "").Data, data) {
			t.Errorf("the store has %d bytes of %d", made.Size, len(data))
		}
		want := 4
		if taken > 0 {
			want = 4 + 1 // the rest of a chunk moves all others and needs one more
		}
		if int(tr.Requests()) != len(o.log) || len(o.log) < want || tr.LastByte() == 0 {
			t.Errorf("%d requests, traced %d: %q", len(o.log), tr.Requests(), o.log)
		}
	}
	o.put(t, "small", data[:5<<20])
	if last := o.log[len(o.log)-1]; !strings.Contains(last, "uploadType=media") {
		t.Errorf("an upload of one chunk went as %s", last)
	}
	o.fail = []int{0, 0, http.StatusServiceUnavailable}
	tr := store.NewTrace(time.Now())
	_, err := o.engine.Put(t.Context(), store.Put{Ref: ref("cut"), Body: bytes.NewReader(data), Size: int64(len(data))}, tr)
	if store.CodeOf(err) != "backendError" || o.find("cut", "") != nil {
		t.Errorf("an upload of which a chunk was refused: %v", err)
	}
}

// Hashes are sent with an upload, and the store rejects a wrong one.
func TestHashes(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]store.Options{"md5": {MD5: true}, "crc32c": {Checksum: store.ChecksumCRC32C}} {
		o := withToken(t, options)
		o.put(t, "right", content(1000))
		body := &changing{Reader: bytes.NewReader(content(1000))}
		_, err := o.engine.Put(t.Context(), store.Put{Ref: ref("wrong"), Body: body, Size: 1000}, store.NewTrace(time.Now()))
		if err == nil || !strings.Contains(err.Error(), "hash does not match") {
			t.Errorf("%s: an upload that was changed on its way: %v", name, err)
		}
	}
}

// Every request that creates an object names the key of the key service, and the store returns it.
func TestServiceKeys(t *testing.T) {
	t.Parallel()
	const key = "projects/p/locations/eu/keyRings/r/cryptoKeys/k"
	o := withToken(t, store.Options{PartSize: 5 << 20, Encryption: store.Encryption{Kind: store.SSEKMS, KeyID: key}})
	described := withToken(t, store.Options{MD5: true, Encryption: store.Encryption{Kind: store.SSEKMS, KeyID: key}})
	described.put(t, "described", content(100))
	o.put(t, "small", content(100))
	o.put(t, "large", content(6<<20))
	_, err := o.engine.Copy(t.Context(), store.Copy{From: ref("small"), To: ref("copy")}, store.NewTrace(time.Now()))
	check.OK(t, err)
	begin := store.NewTrace(time.Now())
	u, err := o.engine.StartUpload(t.Context(), store.Put{Ref: ref("composed")}, begin)
	if begin.LastByte() != 0 {
		t.Errorf("the start of an upload has no payload, and its last byte was sent after %v", begin.LastByte())
	}
	check.OK(t, err)
	part, err := o.engine.PutPart(t.Context(), store.PutPart{Upload: u, Number: 1, Body: bytes.NewReader(content(9)), Size: 9}, store.NewTrace(time.Now()))
	check.OK(t, err)
	if used := o.find(partName(u.ID, 1), "").Key; used != key {
		t.Errorf("a part is encrypted under %q", used)
	}
	_, err = o.engine.CompleteUpload(t.Context(), u, []store.Part{part}, store.NewTrace(time.Now()))
	check.OK(t, err)
	for name, by := range map[string]*opened{"described": described, "small": o, "large": o, "copy": o, "composed": o} {
		shown, err := by.admin.Headers(t.Context(), ref(name), false)
		if err != nil || by.find(name, "").Key != key || !strings.HasPrefix(shown.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"), key) ||
			shown.Get("X-Amz-Server-Side-Encryption") != "aws:kms" {
			t.Errorf("%s is encrypted under %q, and has %v: %v", name, by.find(name, "").Key, shown, err)
		}
	}
}

// A changing body has different content each time it is read from its start.
type changing struct {
	*bytes.Reader
	reads int
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	if off == 0 && n > 0 {
		p[0] ^= byte(c.reads)
		c.reads++
	}
	return n, err
}

// Completing an upload does not replace an object that has appeared meanwhile, and leaves only the
// object behind.
func TestUploadsInParts(t *testing.T) {
	t.Parallel()
	o := withToken(t, store.Options{})
	start := func(key string) (store.Upload, []store.Part) {
		u, err := o.engine.StartUpload(t.Context(), store.Put{Ref: ref(key), ContentType: "text/x",
			Headers: []store.Header{{Name: "x-amz-meta-warp-run", Value: "RUN"}}}, store.NewTrace(time.Now()))
		check.OK(t, err)
		var parts []store.Part
		for i := range 70 { // more than one request can compose
			data := []byte(fmt.Sprintf("part %d;", i))
			part, err := o.engine.PutPart(t.Context(), store.PutPart{Upload: u, Number: i + 1, Body: bytes.NewReader(data), Size: int64(len(data))}, store.NewTrace(time.Now()))
			check.OK(t, err)
			parts = append(parts, part)
		}
		return u, parts
	}
	u, parts := start("whole")
	other := open(t, o.standIn, store.Config{Bearer: store.Bearer{Token: "secret"}}) // does not know the upload
	seen := 0
	check.OK(t, other.admin.Uploads(t.Context(), bucketName, "", func(found store.Upload) error {
		seen++
		if found.Key != "whole" || found.ID != u.ID {
			t.Errorf("found upload %+v, began %+v", found, u)
		}
		return nil
	}))
	numbers := 0
	check.OK(t, other.admin.Parts(t.Context(), u, func(p store.Part) bool {
		numbers++
		if p.Number != numbers || p.ETag != parts[p.Number-1].ETag {
			t.Errorf("part %+v, uploaded %+v", p, parts[p.Number-1])
		}
		return true
	}))
	if seen != 1 || numbers != 70 {
		t.Errorf("%d uploads, %d parts", seen, numbers)
	}
	u.If.Absent = true
	_, err := other.engine.CompleteUpload(t.Context(), u, parts, store.NewTrace(time.Now()))
	check.OK(t, err)
	made := o.find("whole", "")
	if !bytes.HasPrefix(made.Data, []byte("part 0;part 1;")) || !bytes.HasSuffix(made.Data, []byte("part 69;")) || made.ContentType != "text/x" ||
		len(made.Metadata) != 1 || made.Metadata["warp-run"] != "RUN" {
		t.Errorf("made %+v of %.40q…", made.Metadata, made.Data)
	}
	if names := o.names(); !slices.Equal(names, []string{"whole"}) {
		t.Errorf("left are %q", names)
	}
	// Another client is faster.
	u, parts = start("taken")
	o.put(t, "taken", []byte("foreign"))
	u.If.Absent = true
	_, err = o.engine.CompleteUpload(t.Context(), u, parts, store.NewTrace(time.Now()))
	if e, ok := err.(*store.Error); !ok || e.Status != 412 || string(o.find("taken", "").Data) != "foreign" {
		t.Errorf("completed over an object: %v", err)
	}
	// Objects that do not belong to the upload stay.
	o.put(t, uploadsPrefix+u.ID+"/notes.txt", []byte("foreign"))
	check.OK(t, other.admin.AbortUpload(t.Context(), u, store.NewTrace(time.Now())))
	if names := o.names(); !slices.Equal(names, []string{uploadsPrefix + u.ID + "/notes.txt", "taken", "whole"}) {
		t.Errorf("left are %q", names)
	}
	if err := other.admin.AbortUpload(t.Context(), u, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoUpload {
		t.Errorf("aborted twice: %v", err)
	}
}

func (s *standIn) names() (names []string) {
	for name, all := range s.objects {
		if len(all) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Versions are generations. They are named only if the bucket makes versions.
func TestVersions(t *testing.T) {
	t.Parallel()
	o := withToken(t, store.Options{})
	if made, _ := o.put(t, "a", []byte("1")); made.VersionID != "" {
		t.Errorf("version %s of a bucket without", made.VersionID)
	}
	check.OK(t, o.admin.SetVersioning(t.Context(), bucketName, true))
	first, _ := o.put(t, "b", []byte("first"))
	second, _ := o.put(t, "b", []byte("second"))
	var got bytes.Buffer
	d, err := o.engine.Get(t.Context(), store.Get{Ref: first.Ref, Into: &got}, store.NewTrace(time.Now()))
	if err != nil || got.String() != "first" || first.VersionID == second.VersionID || d.VersionID != first.VersionID {
		t.Errorf("version %s is %q: %v", first.VersionID, got.String(), err)
	}
	if s, err := o.engine.Stat(t.Context(), ref("b"), store.NewTrace(time.Now())); err != nil || s.VersionID != second.VersionID {
		t.Errorf("the latest is %s, want %s: %v", s.VersionID, second.VersionID, err)
	}
	check.OK(t, o.engine.Delete(t.Context(), []store.Ref{ref("b")}, store.NewTrace(time.Now())))
	var all []store.Ref
	check.OK(t, o.admin.List(t.Context(), store.List{Bucket: bucketName, Prefix: "b", Versions: true}, func(v store.Object) bool {
		all = append(all, v.Ref)
		return true
	}, store.NewTrace(time.Now())))
	if len(all) != 2 {
		t.Fatalf("versions %v", all)
	}
	check.OK(t, o.engine.Delete(t.Context(), all, store.NewTrace(time.Now())))
	if names := o.names(); !slices.Equal(names, []string{"a"}) {
		t.Errorf("left are %q", names)
	}
}

// A batch has at most 100 requests, missing objects count as deleted, and an error says how many
// failed.
func TestBatches(t *testing.T) {
	t.Parallel()
	o := withToken(t, store.Options{})
	var refs []store.Ref
	for i := range 250 {
		refs = append(refs, ref(fmt.Sprintf("d/%d x", i)))
		o.put(t, refs[i].Key, nil)
	}
	check.OK(t, o.engine.Delete(t.Context(), refs[:1], store.NewTrace(time.Now())))
	o.log = nil
	if err := o.engine.Delete(t.Context(), refs[:100], store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoKey || !strings.Contains(err.Error(), "1 of 100 objects not deleted") {
		t.Errorf("one of them was gone: %v", err)
	}
	if err := o.engine.Delete(t.Context(), refs[:1], store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoKey {
		t.Errorf("it was gone: %v", err)
	}
	o.log = nil
	check.OK(t, o.admin.Delete(t.Context(), refs, store.NewTrace(time.Now())))
	if len(o.log) != 3 || len(o.names()) != 0 {
		t.Errorf("%d requests left %q", len(o.log), o.names())
	}
	if err := o.engine.Delete(t.Context(), []store.Ref{{Bucket: "other", Key: "a"}, {Bucket: "other", Key: "b"}}, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoBucket {
		t.Errorf("deleted in no bucket: %v", err)
	}
}

// Requests that a busy store rejects are repeatable, and other errors have the store's code.
func TestRefusals(t *testing.T) {
	t.Parallel()
	o := withToken(t, store.Options{})
	for status, code := range map[int]string{429: "rateLimitExceeded", 503: "backendError", 403: store.CodeDenied, 412: store.CodePrecondition} {
		o.fail = []int{status}
		tr := store.NewTrace(time.Now())
		_, err := o.engine.Stat(t.Context(), ref("x"), tr)
		e, ok := err.(*store.Error)
		if !ok || e.Code != code || e.Status != status || int(tr.Status()) != status || store.Repeatable(err) != (status == 429 || status == 503) {
			t.Errorf("status %d: %v", status, err)
		}
	}
	if _, err := o.engine.Put(t.Context(), store.Put{Ref: store.Ref{Bucket: "other", Key: "x"}, Body: bytes.NewReader(nil)}, store.NewTrace(time.Now())); err == nil {
		t.Error("uploaded to no bucket")
	}
	delete(o.tokens, "secret")
	_, err := o.engine.Stat(t.Context(), ref("x"), store.NewTrace(time.Now()))
	if e, ok := err.(*store.Error); !ok || e.Code != store.CodeUnauthorized || e.Status != 401 || store.Repeatable(err) {
		t.Errorf("a token that is not valid: %v", err)
	}
}

// serviceAccount is a credentials file whose tokens the stand-in gives out.
func serviceAccount(t *testing.T, s *standIn) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check.OK(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	check.OK(t, err)
	text, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "p", "client_email": "warp@p.iam.gserviceaccount.com",
		"private_key_id": "1", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": s.url + "/token"})
	check.OK(t, err)
	return text
}

// The first request waits for a token. The token is renewed before it expires, even without
// requests, and the next request has the new one.
func TestTokensAreRenewed(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.tokenLife = time.Second
	o := open(t, s, store.Config{Bearer: store.Bearer{File: serviceAccount(t, s)}})
	stat := func() {
		t.Helper()
		if _, err := o.engine.Stat(t.Context(), ref("x"), store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoKey {
			t.Fatal(err)
		}
	}
	fetched := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.tokenFetch
	}
	stat()
	for limit := time.Now().Add(time.Minute); fetched() < 3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d tokens, which last a second each", fetched())
		}
	}
	s.mu.Lock()
	delete(s.tokens, "token-1")
	s.mu.Unlock()
	stat()
	o.engine.Close()
}

// If there is no token, the error says why, and nothing is sent.
func TestNoToken(t *testing.T) {
	t.Parallel()
	refused := newStandIn(t)
	refused.refuseKeys = true
	o := open(t, refused, store.Config{Bearer: store.Bearer{File: serviceAccount(t, refused)}})
	_, err := o.engine.Stat(t.Context(), ref("x"), store.NewTrace(time.Now()))
	if e, ok := err.(*store.Error); !ok || e.Code != store.CodeUnauthorized || !strings.Contains(e.Message, "no access token: invalid_grant (Invalid JWT Signature.)") || len(refused.log) > 0 {
		t.Errorf("without a token: %v, and %q was sent", err, refused.log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.engine.Stat(ctx, ref("x"), store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeCanceled && store.CodeOf(err) != store.CodeUnauthorized {
		t.Errorf("canceled: %v", err)
	}
}

// A redirect is an error with both ways to send requests, and its target gets nothing.
func TestNoRedirects(t *testing.T) {
	t.Parallel()
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the foreign host got %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer foreign.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		front := httptest.NewServer(http.RedirectHandler(foreign.URL+"/b?key=secret", status))
		cfg := store.Config{AppVersion: "1", Concurrency: 1, Bearer: store.Bearer{Token: "token"}}
		driver, err := Open(&cfg)
		check.OK(t, err)
		addr := store.Address{Name: front.Listener.Addr().String()}
		direct, err := driver.Engine(&cfg, addr, new(store.Counters))
		check.OK(t, err)
		byHTTP, err := driver.Admin(&cfg, addr)
		check.OK(t, err)
		for _, e := range []store.Engine{direct, byHTTP} {
			_, statErr := e.Stat(t.Context(), ref("x"), store.NewTrace(time.Now()))
			_, putErr := e.Put(t.Context(), store.Put{Ref: ref("x"), Body: strings.NewReader("x"), Size: 1}, store.NewTrace(time.Now()))
			for _, err := range []error{statErr, putErr} {
				if store.CodeOf(err) != store.CodeRedirect || !strings.Contains(err.Error(), foreign.Listener.Addr().String()) || strings.Contains(err.Error(), "secret") {
					t.Errorf("status %d: %v", status, err)
				}
			}
			e.Close()
		}
		front.Close()
	}
}
