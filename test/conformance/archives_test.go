package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
)

// unpacked expects one request for each row and one to try the store, and runs again to count the
// objects that the store makes.
func unpacked(objects int) func(*testing.T, *bed, history) {
	return func(t *testing.T, b *bed, h history) {
		sent := 0
		for _, s := range b.proxy.Requests(nil) {
			if s.Header.Get("X-Amz-Meta-Snowball-Auto-Extract") == "true" && s.Method == "PUT" {
				sent++
			}
		}
		rows := h.of("PUT")
		for _, r := range rows {
			if r.Objects != objects || r.Bytes%int64(objects) != 0 || r.Bytes == 0 || r.Requests != 1 || r.LastByte == 0 {
				t.Fatalf("a row is %+v", r)
			}
		}
		if sent != len(rows)+1 || onWire(b.proxy, h).of("PUT").requests != sent {
			t.Errorf("%d TARs were sent for %d rows", sent, len(rows))
		}
		againWith(t, b, []string{"snowball", "--objs.per=3", "--obj.size=1000", "--max-objects=17", "--concurrent=2"}, 17, 1000)
	}
}

// againWith runs in another bucket and expects that many objects of one size to remain, each of
// them once.
func againWith(t *testing.T, before *bed, args []string, objects int, size int64) {
	t.Helper()
	b := newBed(t, before.store)
	o, log := b.run(append(args, "--duration=1m", "--keep-data")...)
	o.want(t, 0)
	counted := 0
	for _, r := range readLog(t, log).rows {
		counted += r.Objects
	}
	found := 0
	for o := range b.client.ListObjectsIter(t.Context(), b.bucket, minio.ListObjectsOptions{Prefix: "warp-", Recursive: true}) {
		if o.Err != nil || o.Size != size {
			t.Fatalf("%s has %d bytes: %v", o.Key, o.Size, o.Err)
		}
		found++
	}
	if found != objects || counted != objects {
		t.Errorf("%d objects are there and %d in the log, want %d", found, counted, objects)
	}
}

// readsArchive expects each row to be one request for a file in an archive. Before them there are
// two requests: the trial, for a file in another archive, and one that reads the archive's
// directory.
func readsArchive(t *testing.T, b *bed, h history) {
	var archives []string
	sent := 0
	for _, s := range b.proxy.Requests(nil) {
		archive, file, inside := strings.Cut(s.Path, ".zip/")
		if op, _ := measuredOp(&s); op != "GET" || !inside {
			continue
		}
		sent++
		if !slices.Contains(archives, archive) {
			archives = append(archives, archive)
		}
		if s.Header.Get("X-Minio-Extract") != "true" || file == "" {
			t.Fatalf("%s was asked for with %v", s.Path, s.Header)
		}
	}
	requests := 0
	for _, r := range h.of("GET") {
		requests += int(r.Requests)
		if r.Objects != 1 || r.FirstByte == 0 {
			t.Fatalf("a row is %+v", r)
		}
	}
	// One of the archives is for the trial, and the first request reads the directory of the other.
	if len(archives) != 2 || requests != len(h.of("GET")) || sent != requests+2 {
		t.Errorf("%d files of %d archives were asked for, in %d rows with %d requests", sent, len(archives), len(h.of("GET")), requests)
	}
	if n := len(h.of("PUT")); n != 0 {
		t.Errorf("%d uploads are in the log", n)
	}
}
