package conformance

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"warp/internal/teststore"
)

// versionsOnWire expects as many requests as the rows say, after preparation and the trial, and a
// version in every read.
func versionsOnWire(objects int) func(*testing.T, *bed, history) {
	return func(t *testing.T, b *bed, h history) {
		wire, log := onWire(b.proxy, h), inLog(h)
		before := map[string]int{"PUT": objects + 2, "STAT": 2}
		for _, op := range []string{"GET", "STAT", "PUT", "DELETE"} {
			if got, want := wire.of(op).requests, log.of(op).requests+before[op]; got != want {
				t.Errorf("%s: %d requests went over the wire, want %d", op, got, want)
			}
		}
		for _, s := range b.proxy.Requests(nil) {
			q, _ := url.ParseQuery(s.Query)
			if op, _ := measuredOp(&s); (op == "GET" || op == "STAT") && q.Get("versionId") == "" {
				t.Fatalf("%s %s names no version", s.Method, s.Path)
			}
		}
		if uploads := log.of("PUT").keys; len(uploads) > objects {
			t.Errorf("uploads went to %d objects", len(uploads))
		}
		addsAndRemovesVersions(t, b, objects)
	}
}

// addsAndRemovesVersions runs again in another bucket and counts the remaining versions.
func addsAndRemovesVersions(t *testing.T, before *bed, objects int) {
	t.Helper()
	b := newBed(t, before.store)
	args := []string{"versioned", "--objects=10", "--obj.size=1KiB", "--concurrent=3", "--duration=500ms", "--keep-data"}
	if before.store.Name != teststore.MinIO {
		args = append(args, "--delete-distrib=0")
	}
	o, log := b.run(args...)
	o.want(t, 0)
	h := readLog(t, log)
	versions := 0
	for v := range b.client.ListObjectsIter(t.Context(), b.bucket, minio.ListObjectsOptions{Prefix: "warp-", Recursive: true, WithVersions: true}) {
		if v.Err != nil || v.IsDeleteMarker {
			t.Fatalf("%s: a delete marker, or %v", v.Key, v.Err)
		}
		versions++
	}
	if want := objects + len(h.of("PUT")) - len(h.of("DELETE")); versions != want {
		t.Errorf("%d versions are there, want %d", versions, want)
	}
}

// hidesVersions expects the behaviour of versitygw: when it deletes the newest version of an
// object, it moves the previous one, which briefly does not exist. warp has to count that as
// errors, and to clean up all the same.
func hidesVersions(t *testing.T, s *teststore.Store, args []string) {
	t.Helper()
	b := newBed(t, s)
	o, log := b.run(append(args, "--duration=1s")...)
	if o.code != 0 && o.code != 3 {
		t.Fatalf("exit %d: %s", o.code, o)
	}
	h := readLog(t, log)
	for _, r := range h.rows {
		code, _, _ := strings.Cut(r.Err, ":")
		if !slices.Contains([]string{"", "NoSuchKey", "NoSuchVersion", "InvalidArgument", "BadAnswer", "InternalError"}, code) {
			t.Errorf("%s: %s", r.Op, r.Err)
		}
	}
	b.clean(t)
	t.Logf("works, with %d of %d requests failed: %s", errorsIn(h.rows), len(h.rows), summary(h))
}
