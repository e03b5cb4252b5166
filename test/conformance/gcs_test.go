package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// gcs is Google Cloud Storage, as an emulator.
func gcs() *ownAPI {
	return &ownAPI{store: teststore.FakeGCS, keys: gcsKeys, op: gcsOp, title: "Google Cloud Storage",
		lacks:      []string{"put --post", "retention", "append", "zip", "snowball", "fanout", "tagging"},
		noVersions: "prepare: this store refuses versions of objects",
		versioned: func(t *testing.T, b *bed) { // it always deletes the latest version, and warp detects that
			askGCS(t, b, http.MethodPost, "/storage/v1/b?project=p", `{"name":"`+b.bucket+`"}`, nil)
			askGCS(t, b, http.MethodPatch, "/storage/v1/b/"+b.bucket, `{"versioning":{"enabled":true}}`, nil)
		},
	}
}

// askGCS sends a request directly to the store. It decodes the answer into into, unless that is
// nil.
func askGCS(t *testing.T, b *bed, method, target, body string, into any) int {
	t.Helper()
	status, text, err := b.store.AskGCS(t.Context(), method, target, body)
	check.OK(t, err)
	if into != nil && status == http.StatusOK {
		check.OK(t, json.Unmarshal([]byte(text), into))
	}
	return status
}

func gcsKeys(t *testing.T, b *bed) (names []string, ok bool) {
	t.Helper()
	var page struct{ Items []struct{ Name string } }
	if askGCS(t, b, http.MethodGet, "/storage/v1/b/"+b.bucket+"/o", "", &page) != http.StatusOK {
		return nil, false
	}
	for _, item := range page.Items {
		names = append(names, item.Name)
	}
	return names, true
}

// gcsOp returns the operation that a request belongs to, and its object.
func gcsOp(s *teststore.Seen) (op, key string) {
	q, _ := url.ParseQuery(s.Query)
	_, rest, _ := strings.Cut(s.Path, "/o/")
	escaped, action, _ := strings.Cut(rest, "/")
	key, _ = url.PathUnescape(escaped)
	switch {
	case strings.HasPrefix(s.Path, "/upload/") && strings.Count(q.Get("name"), "/") >= 3 && strings.HasPrefix(q.Get("name"), ".warp/uploads/"):
		return "PUTPART", ""
	case strings.HasPrefix(s.Path, "/upload/"):
		return "PUT", q.Get("name")
	case strings.HasPrefix(s.Path, "/batch/"):
		return "DELETE", ""
	case strings.HasSuffix(s.Path, "/o"):
		return "LIST", ""
	case strings.HasPrefix(action, "rewriteTo/"):
		_, to, _ := strings.Cut(action, "/o/")
		key, _ = url.PathUnescape(to)
		return "COPY", key
	case action == "compose":
		return "UPLOAD", key
	case s.Method == http.MethodDelete:
		return "DELETE", key
	case q.Get("alt") == "media":
		return "GET", key
	}
	return "STAT", key
}
