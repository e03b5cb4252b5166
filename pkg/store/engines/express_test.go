package engines

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	miniogo "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/internal/standin"
	"warp/pkg/store"
	"warp/pkg/store/s3"
)

const (
	directoryBucket = "enginetest--use1-az4--x-s3"
	zonalHost       = "s3express-use1-az4.us-east-1.amazonaws.com"
)

// expressConfig returns a configuration for the stand-in, as a host of Amazon's over TLS or as its
// own.
func expressConfig(engine string, e *standin.Express, amazon bool) store.Config {
	cfg := store.Config{
		Hosts: store.Addresses([]string{e.Addr}), Provider: s3.Express, Concurrency: 2, Engine: engine,
		Credentials: store.Keys{AccessKey: e.User.Access, SecretKey: e.User.Secret, SessionToken: e.User.Token},
	}
	if amazon {
		cfg.Hosts, cfg.TLS, cfg.CAPEM, cfg.Region = []store.Address{{Name: zonalHost, Dial: e.Addr}}, true, e.CA, "us-east-1"
	}
	return cfg
}

func startExpress(t *testing.T, tls bool) *standin.Express {
	t.Helper()
	e := standin.NewExpress(embeddedStore(t))
	e.Start(t, tls)
	t.Cleanup(func() {
		_, problems := e.Seen()
		for _, p := range problems {
			t.Error(p)
		}
	})
	return e
}

// All requests of both engines and of bookkeeping work in a directory bucket, at hosts of Amazon's
// and others. They share one session.
func TestExpress(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		for _, option := range []string{"", "checksum"} {
			for _, amazon := range []bool{false, true} {
				t.Run(fmt.Sprint(engine, option, amazon), func(t *testing.T) {
					t.Parallel()
					e := startExpress(t, amazon)
					e.User.Token = "a token of the user's"
					cfg := expressConfig(engine, e, amazon)
					if option != "" {
						cfg.Checksum = store.ChecksumCRC32C
					}
					cfg.PartSize = 5 << 20
					c, err := New(cfg)
					check.OK(t, err)
					defer c.Close()
					if exists, err := c.BucketExists(t.Context(), directoryBucket); err != nil || exists {
						t.Fatal(exists, err)
					}
					if amazon { // its control endpoint has no address here
						e.MakeBucket(t, directoryBucket)
					} else {
						check.OK(t, c.MakeBucket(t.Context(), directoryBucket, false))
					}
					if exists, err := c.BucketExists(t.Context(), directoryBucket); err != nil || !exists {
						t.Fatal(exists, err)
					}
					h := c.Acquire()
					enginetest.RunIn(t, h.Engine, directoryBucket, enginetest.Lacks{Order: true})
					large := bytes.Repeat([]byte("0123456789abcdef"), 12<<20/16)
					ref := store.Ref{Bucket: directoryBucket, Key: "dir/in parts"}
					_, err = h.Put(t.Context(), store.Put{Ref: ref, Body: bytes.NewReader(large), Size: int64(len(large))}, store.NewTrace(time.Now()))
					check.OK(t, err)
					var keys []string
					check.OK(t, c.List(t.Context(), store.List{Bucket: directoryBucket, Prefix: "dir/in p"}, func() { keys = nil }, func(o store.Object) bool {
						keys = append(keys, o.Key)
						return true
					}))
					if fmt.Sprint(keys) != "[dir/in parts]" {
						t.Errorf("the prefix lists %q", keys)
					}
					check.OK(t, c.AbortUploads(t.Context(), directoryBucket, "dir/", func(string) bool { return true }))
					check.OK(t, c.Delete(t.Context(), []store.Ref{ref, {Bucket: directoryBucket, Key: "other"}}))
					for offset := range int64(3) {
						put := store.Put{Ref: store.Ref{Bucket: directoryBucket, Key: "appended"}, Body: strings.NewReader("x"), Size: 1,
							Headers: []store.Header{{Name: "x-amz-write-offset-bytes", Value: fmt.Sprint(offset)}}}
						o, err := h.Put(t.Context(), put, store.NewTrace(time.Now()))
						if err != nil || o.Size != offset+1 {
							t.Errorf("append at %d: size %d, %v", offset, o.Size, err)
						}
					}
					file := filepath.Join(t.TempDir(), "log")
					check.OK(t, os.WriteFile(file, []byte("rows"), 0o600))
					uploaded := store.Ref{Bucket: directoryBucket, Key: "logs/log"}
					check.OK(t, c.UploadFile(t.Context(), uploaded, file, "application/zstd"))
					if header, err := c.HeadersOf(t.Context(), uploaded); err != nil || header.Get("Content-Type") != "application/zstd" {
						t.Errorf("the log has the headers %v, %v", header, err)
					}
					if n := e.Created(directoryBucket); n != 1 {
						t.Errorf("%d sessions, want 1", n)
					}
				})
			}
		}
	}
}

// A session that the store ends early is replaced while requests continue, and no request waits for
// another.
func TestExpressSessionLapses(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			e := standin.NewExpress(embeddedStore(t))
			creating, goOn := make(chan string, 10), make(chan struct{})
			e.Creating = func(bucket string) {
				if creating <- bucket; len(creating) > 1 {
					<-goOn
				}
			}
			e.Start(t, false)
			c, err := New(expressConfig(engine, e, false))
			check.OK(t, err)
			defer c.Close()
			check.OK(t, c.MakeBucket(t.Context(), directoryBucket, false))
			stat := func() error {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				return c.Use(func(h *store.Host) error {
					put := store.Put{Ref: store.Ref{Bucket: directoryBucket, Key: "k"}, Body: strings.NewReader("x"), Size: 1}
					_, err := h.Put(ctx, put, store.NewTrace(time.Now()))
					return err
				})
			}
			check.OK(t, stat())
			e.Revoke()
			for range 3 { // while the store delays the next session
				if err := stat(); store.CodeOf(err) != "ExpiredToken" {
					t.Errorf("%v, want ExpiredToken", err)
				}
			}
			close(goOn)
			deadline := time.Now().Add(time.Minute)
			for stat() != nil {
				if time.Now().After(deadline) {
					t.Fatal("there is no other session")
				}
				time.Sleep(20 * time.Millisecond)
			}
			if _, problems := e.Seen(); len(problems) > 0 {
				t.Error(problems)
			}
		})
	}
}

// Requests fail with the error of the session.
func TestExpressWithoutSession(t *testing.T) {
	t.Parallel()
	e := standin.NewExpress(embeddedStore(t))
	e.Start(t, false)
	cfg := expressConfig("lean", e, false)
	cfg.Credentials = store.Keys{AccessKey: e.User.Access, SecretKey: "wrong"}
	c, err := New(cfg)
	check.OK(t, err)
	defer c.Close()
	_, err = c.Acquire().Stat(t.Context(), store.Ref{Bucket: directoryBucket, Key: "k"}, store.NewTrace(time.Now()))
	if store.CodeOf(err) != "SignatureDoesNotMatch" {
		t.Error(err)
	}
	cfg.Credentials = nil
	c, err = New(cfg)
	check.OK(t, err)
	defer c.Close()
	_, err = c.Acquire().Stat(t.Context(), store.Ref{Bucket: directoryBucket, Key: "k"}, store.NewTrace(time.Now()))
	if err == nil || !strings.Contains(err.Error(), "only requests signed with V4") {
		t.Error(err)
	}
	g := embeddedStore(t) // it has no sessions
	cfg = expressConfig("lean", e, false)
	cfg.Hosts = store.Addresses([]string{g.Addr()})
	c, err = New(cfg)
	check.OK(t, err)
	defer c.Close()
	_, err = c.Acquire().Stat(t.Context(), store.Ref{Bucket: directoryBucket, Key: "k"}, store.NewTrace(time.Now()))
	if err == nil {
		t.Error("a store without sessions gave one")
	}
	t.Log(err)
}

// minio-go has its own client for directory buckets. It works with the stand-in too, so both follow
// the same protocol.
func TestExpressStandinServesMinio(t *testing.T) {
	t.Parallel()
	e := startExpress(t, true)
	c, err := New(expressConfig("lean", e, true))
	check.OK(t, err)
	defer c.Close()
	e.MakeBucket(t, directoryBucket)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(e.CA)
	other, err := miniogo.New("s3express-control.us-east-1.amazonaws.com", &miniogo.Options{
		Creds: credentials.NewStaticV4(e.User.Access, e.User.Secret, ""), Secure: true, Region: "us-east-1",
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", e.Addr)
		}},
	})
	check.OK(t, err)
	other.SetS3EnableDualstack(false)
	const key = "dir/of minio-go"
	_, err = other.PutObject(t.Context(), directoryBucket, key, strings.NewReader("text"), 4, miniogo.PutObjectOptions{})
	check.OK(t, err)
	var got bytes.Buffer
	_, err = c.Acquire().Get(t.Context(), store.Get{Ref: store.Ref{Bucket: directoryBucket, Key: key}, Into: &got}, store.NewTrace(time.Now()))
	if err != nil || got.String() != "text" {
		t.Errorf("%q, %v", got.String(), err)
	}
	object, err := other.GetObject(t.Context(), directoryBucket, key, miniogo.GetObjectOptions{})
	check.OK(t, err)
	if text, err := io.ReadAll(object); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	check.OK(t, other.RemoveObject(t.Context(), directoryBucket, key, miniogo.RemoveObjectOptions{}))
	if n := e.Created(directoryBucket); n != 2 {
		t.Errorf("%d sessions, want one of each client", n)
	}
}
