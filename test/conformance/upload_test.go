package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A shelf is a bucket for op logs, behind a proxy.
type shelf struct {
	*bed
	env []string // with its keys
}

func newShelf(t *testing.T, s *teststore.Store, faults ...*teststore.Fault) *shelf {
	t.Helper()
	b := newBed(t, s, faults...)
	check.OK(t, b.client.MakeBucket(t.Context(), b.bucket, minio.MakeBucketOptions{Region: s.Region}))
	return &shelf{b, []string{"WARP_UPLOAD_ACCESS_KEY=" + s.AccessKey, "WARP_UPLOAD_SECRET_KEY=" + s.SecretKey}}
}

// url returns an address below the shelf.
func (b *shelf) url(prefix string) string {
	return "http://" + b.proxy.Endpoint + "/" + b.bucket + prefix
}

// put runs a short benchmark on the embedded store, with a log called NAME.
func (b *shelf) put(t *testing.T, name string, more ...string) (o outcome, log string) {
	t.Helper()
	log = filepath.Join(b.dir, name)
	args := append([]string{"put", "--host=embedded", "--obj.size=1KiB", "--max-objects=20", "--concurrent=2", "--benchdata=" + log}, more...)
	return warpProcess(t, b.env, args...), log + ".csv.zst"
}

// holds checks that the bucket contains these objects, with the content of the files.
func (b *shelf) holds(t *testing.T, files map[string]string) {
	t.Helper()
	keys := map[string]bool{}
	for key, file := range files {
		keys[key] = true
		o, err := b.client.GetObject(t.Context(), b.bucket, key, minio.GetObjectOptions{})
		check.OK(t, err)
		var got bytes.Buffer
		if _, err := got.ReadFrom(o); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s has %d bytes, the file %d: %v", key, got.Len(), len(want), err)
		}
	}
	b.left(t, keys)
}

// The log is uploaded unchanged, next to other objects and below any prefix, to every store.
func TestUploadOfTheLog(t *testing.T) {
	t.Parallel()
	stores.Each(t, func(t *testing.T, s *teststore.Store) {
		if s.Name == teststore.Embedded {
			t.Skip("it dies with the run")
		}
		b := newShelf(t, s)
		region := "--upload-region=" + s.Region
		o, first := b.put(t, "first", region, "--upload="+b.url(""))
		o.want(t, 0)
		if want := fmt.Sprintf("op log uploaded to %s/first.csv.zst\n", b.url("")); !strings.Contains(o.err, want) {
			t.Errorf("%q is not said: %s", want, o)
		}
		o, second := b.put(t, "second", region, "--upload="+b.url("/a b/ü/"))
		o.want(t, 0)
		third := filepath.Join(b.dir, "third.csv.zst")
		warpProcess(t, b.env, "script", "--host=embedded", "--benchdata="+third, region, "--upload="+b.url(""), "PUT 3 OBJECTS OF SIZE 1 KB; DELETE").want(t, 0)
		b.holds(t, map[string]string{"first.csv.zst": first, "a b/ü/second.csv.zst": second, "third.csv.zst": third})
		for _, text := range []string{o.out, o.err} {
			if strings.Contains(text, s.SecretKey) || strings.Contains(text, s.AccessKey) {
				t.Errorf("keys are shown: %s", o)
			}
		}
	})
}

// Errors that can be found before the run end it before the run.
func TestUploadIsRefusedBeforeTheRun(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := newShelf(t, s)
	_, log := b.put(t, "there", "--upload="+b.url("/x"))
	before := b.proxy.Count(http.MethodPut)
	for url, want := range map[string]struct {
		code int
		says string
	}{
		b.url("-not"):                                  {1, "there is no bucket " + b.bucket + "-not at http://"},
		"http://127.0.0.1:1/" + b.bucket:               {1, "nothing answers at http://127.0.0.1:1"},
		"https://" + b.proxy.Endpoint + "/" + b.bucket: {1, "no TLS connection"},
	} {
		o, log := b.put(t, "early", "--upload="+url)
		o.want(t, want.code).says(t, "--upload: ", want.says)
		if _, err := os.Stat(log); err == nil || o.out != "" {
			t.Errorf("there was a run: %s", o)
		}
	}
	check.OK(t, os.Rename(log, log+".away"))
	o, _ := b.put(t, "there", "--upload="+b.url("/x"))
	o.want(t, 2).says(t, "/x/there.csv.zst exists already", "another --benchdata")
	b.env[1] = "WARP_UPLOAD_SECRET_KEY=wrongsecretkey"
	o, _ = b.put(t, "wrong", "--upload="+b.url(""))
	o.want(t, 1).says(t, "--upload: ", "SignatureDoesNotMatch", "WARP_UPLOAD_SECRET_KEY")
	if n := b.proxy.Count(http.MethodPut); n != before {
		t.Errorf("%d uploads", n-before)
	}
	b.holds(t, map[string]string{"x/there.csv.zst": log + ".away"})
}

// Keys that may only write are enough.
func TestUploadByAKeyThatMayOnlyWrite(t *testing.T) {
	t.Parallel()
	b := newShelf(t, stores.Shared(t, teststore.MinIO), &teststore.Fault{Status: 403, Code: "AccessDenied", Match: func(r *http.Request) bool {
		return r.Method != http.MethodPut
	}})
	o, log := b.put(t, "blind", "--upload="+b.url(""))
	o.want(t, 0)
	b.holds(t, map[string]string{"blind.csv.zst": log})
}

// A failed upload affects nothing else: the run is reported, its log is kept, and the exit code
// shows the failure.
func TestUploadFails(t *testing.T) {
	t.Parallel()
	b := newShelf(t, stores.Shared(t, teststore.MinIO), &teststore.Fault{Match: teststore.OnObject(http.MethodPut), Status: 507, Code: "XMinioStorageFull"})
	o, log := b.put(t, "kept", "--upload="+b.url(""))
	o.want(t, 1).says(t, "the op log was not uploaded to "+b.url("/kept.csv.zst"), "XMinioStorageFull", `it is in "`+log+`"`)
	if !strings.Contains(o.out, "Operation: PUT (20)") {
		t.Errorf("there is no report: %s", o)
	}
	warp("analyze", log).want(t, 0)
	b.holds(t, nil)
}

// Failed requests do not prevent the upload of the log, and the exit code reports them. A failed
// upload takes precedence.
func TestUploadOfAFailedRun(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b, load := newShelf(t, s), newBed(t, s, &teststore.Fault{Match: teststore.OnObject(http.MethodGet), Every: 2, Status: 403, Code: "AccessDenied"})
	line := func(url string) ([]string, string) {
		return load.line("get", "--obj.size=1KiB", "--objects=20", "--concurrent=2", "--duration=300ms", "--upload="+url)
	}
	args, log := line(b.url(""))
	warpProcess(t, b.env, args...).want(t, 3)
	b.holds(t, map[string]string{filepath.Base(log): log})

	full := newShelf(t, s, &teststore.Fault{Match: teststore.OnObject(http.MethodPut), Status: 507, Code: "XMinioStorageFull"})
	args, _ = line(full.url(""))
	warpProcess(t, full.env, args...).want(t, 1).says(t, "requests failed; and the op log was not uploaded")
	load.clean(t)
}

// A log may be larger than one part.
func TestUploadInParts(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := newShelf(t, s)
	file := filepath.Join(b.dir, "large")
	check.OK(t, os.WriteFile(file, bytes.Repeat([]byte("a row of the log\n"), 40<<20/17), 0o600))
	c, err := engines.New(store.Config{Hosts: store.Addresses([]string{b.proxy.Endpoint}), Region: s.Region, Credentials: store.Keys{AccessKey: s.AccessKey, SecretKey: s.SecretKey}})
	check.OK(t, err)
	check.OK(t, c.UploadFile(t.Context(), store.Ref{Bucket: b.bucket, Key: "large"}, file, "application/zstd"))
	if n := b.proxy.Count(http.MethodPut); n < 3 {
		t.Errorf("%d parts", n)
	}
	b.holds(t, map[string]string{"large": file})
}

// The log of an interrupted run is uploaded too.
func TestUploadAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	b := newShelf(t, stores.Shared(t, teststore.MinIO))
	log := filepath.Join(b.dir, "stopped")
	c := startWarpWith(t, b.env, "put", "--host=embedded", "--obj.size=1KiB", "--concurrent=2", "--rps-limit=100", "--duration=5m",
		"--stats-interval=100ms", "--benchdata="+log, "--upload="+b.url(""))
	check.Eventually(t, "the run to be under way", func() bool { return strings.Contains(c.err.String(), "PUT:") })
	c.interrupt(t)
	o, _ := c.ends(t)
	o.want(t, 130)
	b.holds(t, map[string]string{"stopped.csv.zst": log + ".csv.zst"})
}
