package safety

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"warp/internal/teststore"
)

// gcsUploads is where warp keeps the parts of incomplete uploads.
const gcsUploads = ".warp/uploads/"

// gcs is Google Cloud Storage, as an emulator.
func gcs() *ownAPI {
	return &ownAPI{store: teststore.FakeGCS, makeBucket: (*bucket).makeInGCS, put: (*bucket).putToGCS, look: (*bucket).lookAtGCS,
		lacks: func(args []string) bool {
			return slices.Contains(args, "--post") || args[0] == "copy" && slices.Contains(args, "--part.size=5MiB")
		},
		foreign: map[string]string{
			gcsUploads + "0123456789abcdef01234567":       "no upload of warp's",
			gcsUploads + "0123456789abcdef01234567/00001": "no part",
		},
		parts:      []string{"multipart-put", "multipart"},
		unfinished: func(key string, _ item) bool { return strings.HasPrefix(key, gcsUploads) },
	}
}

func (b *bucket) makeInGCS() error {
	if status, text := b.api(http.MethodPost, "/storage/v1/b?project=p", `{"name":"`+b.name+`"}`, nil); status != http.StatusOK {
		return fmt.Errorf("status %d: %s", status, text)
	}
	return nil
}

// api sends a request directly to the store.
func (b *bucket) api(method, target, body string, into any) (status int, text string) {
	b.t.Helper()
	status, text, err := b.store.AskGCS(b.t.Context(), method, target, body)
	b.must(err)
	if into != nil {
		b.must(json.Unmarshal([]byte(text), into))
	}
	return status, text
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
