package safety

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/internal/teststore"
	"warp/pkg/generator"
)

// TestMoreUploadsThanAPageHolds checks that clean-up aborts all incomplete uploads of a dead run,
// even if listing them takes several pages, and no foreign ones, which fill a page.
func TestMoreUploadsThanAPageHolds(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		const page = 1000
		b := made(t, s, false)
		names := generator.NewNames(generator.RunPrefix(1), 1, generator.Layout{})
		keys := make(chan string)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for key := range keys {
					if _, err := b.core.NewMultipartUpload(t.Context(), b.name, key, minio.PutObjectOptions{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range uint64(page + 50) {
			keys <- fmt.Sprintf("theirs/%04d", i) // sorts before ours
			keys <- names.Key(0, i)
		}
		close(keys)
		wg.Wait()
		b.put(".warp/DeadRun1.json", fmt.Sprintf(`{"run":"DeadRun1","prefix":%q,"seed":"1","lease_s":0.5,"claimed":true}`, generator.RunPrefix(1)))
		time.Sleep(expiry)
		b.warp("clean").want(0)
		left := b.uploads()
		if ours := slices.IndexFunc(left, func(key string) bool { return !strings.HasPrefix(key, "theirs/") }); ours >= 0 {
			t.Errorf("%s is left", left[ours])
		}
		if len(left) != page+50 {
			t.Errorf("%d uploads are left, want all %d of somebody else", len(left), page+50)
		}
	})
}

// uploads lists all incomplete uploads. It continues after names, since versitygw does not continue
// after uploads.
func (b *bucket) uploads() (keys []string) {
	b.t.Helper()
	for marker := ""; ; {
		page, err := b.core.ListMultipartUploads(b.t.Context(), b.name, "", marker, "", "", 0)
		b.must(err)
		for _, u := range page.Uploads {
			keys = append(keys, u.Key)
		}
		if !page.IsTruncated {
			return keys
		}
		marker = page.NextKeyMarker
	}
}
