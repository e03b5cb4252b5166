package conformance

import (
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"warp/internal/teststore"
)

// TestAppend runs against a store that supports appends; TestMatrix checks that all others reject
// them.
func TestAppend(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, teststore.Embedded))
			args := []string{"append", "--obj.size=4KiB", "--concurrent=3", "--duration=1s", "--keep-data", "--engine=" + engine}
			o, log := b.run(args...)
			o.want(t, 0).sameAsAnalyze(t, log)
			h := readLog(t, log)
			rowsAre(map[string]int{"APPEND": 1})(t, b, h)
			for _, s := range b.proxy.Requests(nil) {
				if s.Header.Get("X-Amz-Write-Offset-Bytes") != "" && s.Header.Get("X-Amz-Decoded-Content-Length") != "" {
					t.Fatal("an append is not signed as a whole, which S3 Express refuses")
				}
			}
			sizes := map[string]int64{}
			for _, r := range h.of("APPEND") {
				sizes[r.Key] += r.Bytes
			}
			for key, size := range sizes {
				o, err := b.client.StatObject(t.Context(), b.bucket, key, minio.StatObjectOptions{})
				if err != nil || o.Size != size {
					t.Errorf("%s has %d bytes instead of %d, %v", key, o.Size, size, err)
				}
			}
			if len(sizes) != 3 || !strings.Contains(o.out, "Operation: APPEND") {
				t.Errorf("%d objects, want 3: %s", len(sizes), o)
			}
		})
	}
}

// TestAppendCleansUp checks that nothing is left, even after failed appends.
func TestAppendCleansUp(t *testing.T) {
	t.Parallel()
	fault := &teststore.Fault{Match: onPool("PUT"), Every: 10, Status: 503}
	b := newBed(t, stores.Shared(t, teststore.Embedded), fault)
	o, log := b.run("append", "--obj.size=100", "--concurrent=3", "--duration=500ms")
	o.want(t, 3)
	h := readLog(t, log)
	failed := errorsIn(h.rows)
	for _, r := range h.rows {
		if r.Err != "" && r.Status != 503 {
			t.Fatalf("an append after a failed one: %+v", r)
		}
	}
	if failed == 0 || failed == len(h.rows) {
		t.Errorf("%d of %d appends failed", failed, len(h.rows))
	}
	b.clean(t)
}
