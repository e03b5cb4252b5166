package conformance

import (
	"net/url"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/internal/teststore"
)

// locksOnWire expects one request for each row and one to try the store. Then it runs again and
// checks the locks.
func locksOnWire(versions int) func(*testing.T, *bed, history) {
	return func(t *testing.T, b *bed, h history) {
		sent := 0
		for _, s := range b.proxy.Requests(nil) {
			q, _ := url.ParseQuery(s.Query)
			if s.Method != "PUT" || !q.Has("retention") {
				continue
			}
			sent++
			if q.Get("versionId") == "" {
				t.Fatalf("%s locks no version", s.Path)
			}
		}
		rows := h.of("RETENTION")
		for _, r := range rows {
			if r.Objects != 1 || r.Bytes != 0 || r.Requests != 1 || r.FirstByte != 0 || r.LastByte == 0 {
				t.Fatalf("a row is %+v", r)
			}
		}
		if sent != len(rows)+1 {
			t.Errorf("%d locks were sent for %d rows", sent, len(rows))
		}
		if n := len(h.of("PUT")); n != versions {
			t.Errorf("%d uploads, want %d", n, versions)
		}
		locksForAnHour(t, b)
	}
}

func locksForAnHour(t *testing.T, before *bed) {
	t.Helper()
	b := newBed(t, before.store)
	// Versions are chosen at random: after this time even a slow machine has locked both.
	o, _ := b.run("retention", "--objects=1", "--versions=2", "--obj.size=1", "--concurrent=2", "--duration=2s", "--keep-data")
	o.want(t, 0)
	versions := 0
	for v := range b.client.ListObjectsIter(t.Context(), b.bucket, minio.ListObjectsOptions{Prefix: "warp-", Recursive: true, WithVersions: true}) {
		if v.Err != nil || v.IsDeleteMarker {
			t.Fatalf("%s: a delete marker, or %v", v.Key, v.Err)
		}
		versions++
		if err := b.client.RemoveObject(t.Context(), b.bucket, v.Key, minio.RemoveObjectOptions{VersionID: v.VersionID}); err == nil {
			t.Errorf("version %s of %s could be deleted", v.VersionID, v.Key)
		}
		if b.store.Name != teststore.MinIO {
			continue // versitygw answers GetObjectRetention with a differently named document
		}
		mode, until, err := b.client.GetObjectRetention(t.Context(), b.bucket, v.Key, v.VersionID)
		if err != nil || mode == nil || until == nil || *mode != minio.Governance {
			t.Errorf("version %s of %s is locked %v until %v: %v", v.VersionID, v.Key, mode, until, err)
			continue
		}
		if left := time.Until(*until); left < 58*time.Minute || left > 61*time.Minute {
			t.Errorf("version %s of %s is locked for %s", v.VersionID, v.Key, left)
		}
	}
	if versions != 2 {
		t.Errorf("%d versions were kept, want 2", versions)
	}
}
