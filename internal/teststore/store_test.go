package teststore

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"warp/internal/check"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

func client(t *testing.T, s *Store, endpoint string) *minio.Client {
	t.Helper()
	o := &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: s.Region}
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		check.OK(t, err)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		o.Secure, o.Transport = true, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	}
	c, err := minio.New(endpoint, o)
	check.OK(t, err)
	return c
}

// roundTrip creates a bucket, lists it, and uploads and downloads an object.
func roundTrip(t *testing.T, c *minio.Client, region, bucket string) {
	t.Helper()
	ctx := t.Context()
	if err := c.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: region}); err != nil {
		t.Fatalf("creating a bucket: %v", err)
	}
	buckets, err := c.ListBuckets(ctx)
	if err != nil || len(buckets) == 0 {
		t.Fatalf("ListBuckets: %v, %v", buckets, err)
	}
	want := bytes.Repeat([]byte("warp"), 10_000)
	if _, err := c.PutObject(ctx, bucket, "a/key", bytes.NewReader(want), int64(len(want)), minio.PutObjectOptions{}); err != nil {
		t.Fatalf("PutObject: %v", err)
	}
	o, err := c.GetObject(ctx, bucket, "a/key", minio.GetObjectOptions{})
	check.OK(t, err)
	defer o.Close()
	if got, err := io.ReadAll(o); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("downloaded %d bytes, %v; want the %d uploaded", len(got), err, len(want))
	}
}

func TestStoresStartAnswerAndStop(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *Store
			t.Run("while it runs", func(t *testing.T) {
				begin := time.Now()
				s = Start(t, name, Options{})
				t.Logf("%s was ready after %s", name, time.Since(begin).Round(time.Millisecond))
				roundTrip(t, client(t, s, s.Endpoint), s.Region, "warp-test")
			})
			if s == nil {
				t.SkipNow()
			}
			if _, err := client(t, s, s.Endpoint).ListBuckets(t.Context()); err == nil {
				t.Error("the store answers after its end")
			}
			if _, err := os.Stat(s.dir); s.dir != "" && !os.IsNotExist(err) {
				t.Errorf("the store's folder is still there: %v", err)
			}
		})
	}
}

func TestMinIOTLS(t *testing.T) {
	s := Start(t, MinIO, Options{TLS: true})
	roundTrip(t, client(t, s, s.Endpoint), s.Region, "warp-test")
}

func TestMinIOHosts(t *testing.T) {
	s := Start(t, MinIO, Options{Hosts: 2})
	if len(s.Endpoints) != 2 {
		t.Fatalf("endpoints %v", s.Endpoints)
	}
	roundTrip(t, client(t, s, s.Endpoints[0]), s.Region, "warp-test")
	st, err := client(t, s, s.Endpoints[1]).StatObject(t.Context(), "warp-test", "a/key", minio.StatObjectOptions{})
	if err != nil || st.Size != 40_000 {
		t.Errorf("the second host sees %v, %v", st.Size, err)
	}
	s.Kill(1)
	if _, err := client(t, s, s.Endpoints[0]).ListBuckets(t.Context()); err != nil {
		t.Errorf("the first host after the end of the second: %v", err)
	}
}
