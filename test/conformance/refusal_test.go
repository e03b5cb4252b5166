package conformance

import (
	"net/url"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"warp/internal/check"
	"warp/internal/teststore"
)

// TestVersions runs the benchmarks that have --versions against every store: they work, or the
// error is one line.
func TestVersions(t *testing.T) {
	t.Parallel()
	stores.Each(t, func(t *testing.T, s *teststore.Store) {
		t.Parallel()
		for _, op := range []string{"get", "stat", "list"} {
			t.Run(op, func(t *testing.T) {
				args := []string{op, "--versions=3", "--obj.size=1KiB", "--objects=12", "--concurrent=3", "--duration=300ms", "--json"}
				b := newBed(t, s)
				o, log := b.run(args...)
				if !s.Can.Versioning {
					refused(t, b, o, "version")
					return
				}
				o.want(t, 0).sameAsAnalyze(t, log, "--json")
				h := readLog(t, log)
				agree(t, b.proxy, h)
				b.clean(t)
				if n := len(h.of("PUT")); n != 36 {
					t.Errorf("%d uploads, want 36", n)
				}
				if op == "list" {
					pagesOf(12, 1)(t, h)
				} else {
					asksForVersions(t, s, op, args)
				}
				t.Logf("works: %s", summary(h))
			})
		}
	})
}

// refused expects one clear line and nothing left behind.
func refused(t *testing.T, b *bed, o outcome, word string) {
	t.Helper()
	if o.code != 1 && o.code != 2 {
		t.Errorf("exit %d, want 1 or 2: %s", o.code, o)
	}
	line := o.says(t, word)
	b.clean(t)
	t.Logf("refused: %s", line)
}

// asksForVersions keeps the data, and checks that every requested version exists.
func asksForVersions(t *testing.T, s *teststore.Store, op string, args []string) {
	t.Helper()
	var b *bed
	asked := map[string]bool{}
	for _, d := range durations {
		b = newBed(t, s)
		o, _ := b.run(append(args, "--keep-data", d)...)
		o.want(t, 0)
		clear(asked)
		for _, s := range b.proxy.Requests(nil) {
			if measured, key := measuredOp(&s); strings.EqualFold(measured, op) {
				q, _ := url.ParseQuery(s.Query)
				asked[key+"?"+q.Get("versionId")] = true
			}
		}
		if len(asked) >= 20 {
			break
		}
	}
	exist, perKey := map[string]bool{}, map[string]int{}
	for v := range b.client.ListObjectsIter(t.Context(), b.bucket, minio.ListObjectsOptions{Recursive: true, WithVersions: true}) {
		if v.Err != nil {
			t.Fatal(v.Err)
		}
		if strings.HasPrefix(v.Key, ".warp/") {
			continue
		}
		exist[v.Key+"?"+v.VersionID] = true
		perKey[v.Key]++
	}
	if len(perKey) != 12 || len(exist) != 36 {
		t.Errorf("%d objects with %d versions, want 12 with 36", len(perKey), len(exist))
	}
	for v := range asked {
		if !exist[v] {
			t.Errorf("asked for %s, which does not exist", v)
		}
	}
	if len(asked) < 20 {
		t.Errorf("only %d of 36 versions were asked for", len(asked))
	}
}

// TestVersionsInForeignBucket checks that warp does not enable versioning of a bucket that it did
// not make.
func TestVersionsInForeignBucket(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Versitygw} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, stores.Shared(t, name))
			check.OK(t, b.client.MakeBucket(t.Context(), b.bucket, minio.MakeBucketOptions{Region: b.store.Region}))
			if _, err := b.client.PutObject(t.Context(), b.bucket, "theirs", strings.NewReader("x"), 1, minio.PutObjectOptions{}); err != nil {
				t.Fatal(err)
			}
			o, _ := b.run("get", "--versions=2", "--objects=2", "--obj.size=1KiB", "--duration=300ms")
			o.want(t, 1).says(t, "not versioned", b.bucket)
			b.left(t, map[string]bool{"theirs": true})
			state, err := b.client.GetBucketVersioning(t.Context(), b.bucket)
			if err != nil || state.Status != "" {
				t.Errorf("versioning is %q now, error %v", state.Status, err)
			}
		})
	}
}

// TestVersionsOfTheBuiltInStore checks that it works without a flag about the bucket.
func TestVersionsOfTheBuiltInStore(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"get", "stat", "list"} {
		warp(op, "--host=embedded", "--versions=2", "--objects=20", "--obj.size=1KiB", "--duration=200ms", "--benchdata="+t.TempDir()+"/x").want(t, 0)
	}
}

// TestListMetadata checks an extension of MinIO, which other stores ignore.
func TestListMetadata(t *testing.T) {
	t.Parallel()
	stores.Each(t, func(t *testing.T, s *teststore.Store) {
		t.Parallel()
		b := newBed(t, s)
		o, log := b.run("list", "--metadata", "--obj.size=1KiB", "--objects=12", "--concurrent=3", "--duration=300ms")
		if s.Name != teststore.MinIO {
			refused(t, b, o, "metadata")
			return
		}
		o.want(t, 0).sameAsAnalyze(t, log)
		h := readLog(t, log)
		agree(t, b.proxy, h)
		b.clean(t)
		t.Logf("works: %s", summary(h))
	})
}
