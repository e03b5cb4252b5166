package safety

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/teststore"
)

// onGCS makes a bucket in a Google Cloud Storage for tests, as somebody else would.
func onGCS(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{t: t, name: fmt.Sprintf("safety-%d", buckets.Add(1)), store: stores.Shared(t, teststore.FakeGCS)}
	if status, _ := b.api(http.MethodPost, "/storage/v1/b?project=p", `{"name":"`+b.name+`"}`, nil); status != http.StatusOK {
		t.Fatalf("make bucket: status %d", status)
	}
	return b
}

// api sends a request past warp.
func (b *bucket) api(method, target, body string, into any) (status int, text string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, "http://"+b.store.Endpoint+target, strings.NewReader(body))
	b.must(err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	b.must(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	b.must(err)
	if into != nil {
		b.must(json.Unmarshal(data, into))
	}
	return resp.StatusCode, string(data)
}

func (b *bucket) putToGCS(key, content string) error {
	status, text := b.api(http.MethodPost, "/upload/storage/v1/b/"+b.name+"/o?uploadType=media&name="+url.QueryEscape(key), content, nil)
	if status != http.StatusOK {
		return fmt.Errorf("status %d: %s", status, text)
	}
	return nil
}

func (b *bucket) lookAtGCS() map[string]item {
	b.t.Helper()
	var page struct {
		Items []struct {
			Name, Generation, MD5Hash, Size string
			Updated                         time.Time
		}
	}
	b.api(http.MethodGet, "/storage/v1/b/"+b.name+"/o", "", &page)
	all := make(map[string]item)
	for _, o := range page.Items {
		all[o.Name] = item{ETag: o.Generation + " " + o.MD5Hash + " " + o.Size, Modified: o.Updated, Latest: true}
	}
	return all
}

// operationsOfGCS are those that the store does.
func operationsOfGCS(s *teststore.Store) [][]string {
	return slices.DeleteFunc(everyOperation(s, false), func(args []string) bool {
		return slices.Contains(args, "--post") || args[0] == "copy" && slices.Contains(args, "--part.size=5MiB")
	})
}

// Foreign objects are as safe as on S3: whatever warp does, and wherever it is killed.
func TestGCSForeignObjects(t *testing.T) {
	t.Parallel()
	b := onGCS(t)
	b.fill()
	b.put(".warp/uploads/0123456789abcdef01234567", "no upload of warp's")
	b.put(".warp/uploads/0123456789abcdef01234567/00001", "no part")
	before := b.snapshot()
	for _, args := range operationsOfGCS(b.store) {
		p := b.warp(args...).want(0)
		if strings.Contains(p.stderr(), "without cleaning up") {
			t.Errorf("%s", p)
		}
	}
	b.same(before)
	for _, args := range [][]string{{"put"}, {"mixed", "--noprefix"}, {"delete"}, {"put", "--prefix=photos"}, {"put", "--keep-data"}} {
		b.warp(append(small(args[0], args[1:]...), fmt.Sprintf("--seed=%d", takenSeed))...).want(1).says("exists in bucket")
	}
	b.warp("multipart", "--parts=2", "--part.size=5MiB", "--concurrent=1", "--duration=300ms", "--obj.name=photo.jpg").want(1).says("photo.jpg exists")
	b.same(before)
}

func TestGCSKilled(t *testing.T) {
	t.Parallel()
	r := killSeed(t)
	b := onGCS(t)
	before := b.fill()
	taken := fmt.Sprintf("--seed=%d", takenSeed)
	for n := 1; n <= 12; n++ {
		b.killedAt(n, small("put")...)
		b.killedAt(n, small("mixed", taken, "--keep-data", "--prefix=photos")...)
	}
	parts := []string{"--parts=3", "--part.size=5MiB", "--concurrent=2", "--duration=2s", "--lease=10s"}
	for range 6 {
		b.killedAt(8+r.IntN(20), append([]string{"multipart-put"}, parts...)...)
		b.killedAt(8+r.IntN(12), append([]string{"multipart"}, parts...)...)
	}
	if left := b.snapshot(); len(left) == len(before) {
		t.Error("runs that were killed have left nothing, so this test shows nothing")
	}
	b.laterRunsCleanUp(before)
}
