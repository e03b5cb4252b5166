package safety

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/internal/teststore"
)

// saysError answers listings below warp's prefixes with an error with status 200, once on is set.
func saysError(t *testing.T, endpoint string, on *atomic.Bool) string {
	return newFront(t, endpoint, func(f *front) {
		f.change = func(r *http.Response) error {
			query := r.Request.URL.Query()
			if !on.Load() || r.Request.Method != http.MethodGet || !strings.HasPrefix(query.Get("prefix"), "warp-") {
				return nil
			}
			r.Body.Close()
			body := `<?xml version="1.0"?><Error><Code>InternalError</Code><Message>try again</Message></Error>`
			r.StatusCode, r.Body, r.ContentLength = http.StatusOK, io.NopCloser(strings.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return nil
		}
	}).endpoint
}

// An error with status 200 is not an empty bucket: at clean-up the marker must stay with the
// objects, and before a run the names must not count as free.
func TestErrorIsNoEmptyListing(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		b := made(t, stores.Shared(t, teststore.Versitygw), false)
		before := b.fill()
		var on atomic.Bool
		endpoint := saysError(t, b.store.Endpoint, &on)
		p := b.through(endpoint, small("put", "--duration=2s", "--engine="+engine)...)
		await(t, 30*time.Second, func() bool { return len(b.keys(isData)) > len(keysOf(before))+10 }, "objects")
		on.Store(true)
		p.want(1).says("clean up: ", "an error document", "objects remain under warp-")
		b.laterRunsCleanUp(before)

		b.warp(small("put", "--seed=5", "--max-objects=20", "--keep-data")...).want(0)
		kept := b.snapshot()
		for key := range kept {
			if name, _, _ := strings.Cut(key, "\x00"); strings.HasPrefix(name, ".warp/") {
				b.must(b.core.RemoveObject(t.Context(), b.name, name, minio.RemoveObjectOptions{})) // they have no marker
			}
		}
		b.through(endpoint, small("put", "--seed=5", "--engine="+engine)...).want(1).says("list the objects under", "an error document")
		on.Store(false)
		b.through(endpoint, small("put", "--seed=5", "--engine="+engine)...).want(1).says("belongs to no run of warp")
	}
}
