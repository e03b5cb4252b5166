package standin

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"warp/pkg/s3mem"
)

// AIStoreS3 is the S3 interface of AIStore: a proxy, which answers requests about buckets and
// redirects requests about objects to a target. It reports versioning, and answers requests for
// versions with objects.
type AIStoreS3 struct {
	Proxy, Target *Gateway

	mu    sync.Mutex
	sizes map[string]map[int]int64 // sizes of parts, by path and upload, and by path after completion
}

// StartAIStoreS3 starts the interface below /s3.
func StartAIStoreS3(t testing.TB, store *s3mem.Embedded) *AIStoreS3 {
	t.Helper()
	a := &AIStoreS3{Proxy: StartGateway(t, "/s3", store), Target: StartGateway(t, "/s3", store), sizes: make(map[string]map[int]int64)}
	toTarget := To("http://" + a.Target.Addr)
	a.Proxy.Redirect(func(r *http.Request) string {
		if _, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/s3/"), "/"); key == "" {
			return ""
		}
		return toTarget(r)
	})
	a.Proxy.answer, a.Target.answer = a.serveBucket, a.serveObject
	return a
}

// serveBucket answers the requests for which AIStore differs from the embedded store.
func (a *AIStoreS3) serveBucket(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	switch {
	case query.Has("versioning") && r.Method == http.MethodGet:
		_, _ = io.WriteString(w, "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
		return true
	case query.Has("versions"):
		query.Del("versions")
		setQuery(r, query)
	}
	return false
}

// serveObject answers downloads of single parts, using the sizes of the uploaded parts.
func (a *AIStoreS3) serveObject(_ http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	upload, number := query.Get("uploadId"), 0
	if query.Has("partNumber") {
		number, _ = strconv.Atoi(query.Get("partNumber"))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	unfinished := r.URL.Path + "?" + upload
	switch {
	case r.Method == http.MethodPut && upload != "":
		if a.sizes[unfinished] == nil {
			a.sizes[unfinished] = make(map[int]int64)
		}
		a.sizes[unfinished][number], _ = strconv.ParseInt(cmp.Or(r.Header.Get("X-Amz-Decoded-Content-Length"), strconv.FormatInt(r.ContentLength, 10)), 10, 64)
	case r.Method == http.MethodPost && upload != "":
		a.sizes[r.URL.Path] = a.sizes[unfinished]
	case r.Method == http.MethodGet && number > 0 && upload == "":
		from := int64(0)
		for n := 1; n < number; n++ {
			from += a.sizes[r.URL.Path][n]
		}
		query.Del("partNumber")
		setQuery(r, query)
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+a.sizes[r.URL.Path][number]-1))
	}
	return false
}

func setQuery(r *http.Request, query url.Values) {
	r.URL.RawQuery = query.Encode()
	r.RequestURI = r.URL.RequestURI()
}
